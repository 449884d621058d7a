import { isOfDependency, packageBounds } from '../files.ts';
import type { BundledPackage } from './dependencies.ts';
import { runBounds } from '../../sandbox/run.ts';

/** The messages of the process that reads a package, one JSON document a line. */
export type ReaderMessage =
  | { type: 'ready' }
  /** For an archive, before any of its code is looked at: the SHA-256 of its files, and the text of their signature. */
  | { type: 'unpacked'; filesHash: string; signature: string | null }
  /**
   * `manifest` is the text of plugin.json, `code` the script; null = not readable. `packages` are the npm packages in the
   * script. An invalid manifest has no `problems` yet.
   */
  | {
      type: 'read';
      manifest: string | null;
      code: string | null;
      packages: BundledPackage[];
      problems: string[];
    };

/** Characters of a script with its source map. */
export const maxScriptChars = 2 * runBounds.bundleChars;

/** The number and length of the problems that are reported for one package. */
export const problemBounds = { problems: 20, problemChars: 1000 } as const;

/** Characters at most of a path in an npm package, and of what its package.json says. */
const packageTextBounds = { path: 1000, field: 300 };

/** Characters of a signature at most; one of Ed25519 in base64 has 88. */
export const maxSignatureChars = 200;

/** The longest message of the process, in bytes: JSON may escape a character as six bytes. */
export const maxReaderLineBytes =
  6 * (packageBounds.manifestBytes + maxScriptChars + problemBounds.problems * problemBounds.problemChars) +
  // Each file is in one package, and each package has a file.
  2 * packageBounds.files * 6 * (packageTextBounds.path + packageTextBounds.field) +
  1024;

/** Parses and validates a line of the process; null when it is not a valid message. */
export function parseReaderMessage(line: string): ReaderMessage | null {
  let message: Partial<Record<string, unknown>> | null;
  try {
    message = JSON.parse(line) as Partial<Record<string, unknown>> | null;
  } catch {
    return null;
  }
  if (message?.type === 'ready') return { type: 'ready' };
  if (message?.type === 'unpacked') return isUnpacked(message) ? (message as ReaderMessage) : null;
  return message?.type === 'read' && isRead(message) ? (message as ReaderMessage) : null;
}

function isRead({ manifest, code, packages, problems }: Partial<Record<string, unknown>>): boolean {
  return (
    isTextOrNull(manifest, packageBounds.manifestBytes) &&
    isTextOrNull(code, maxScriptChars) &&
    isPackages(packages) &&
    isProblems(problems)
  );
}

function isUnpacked({ filesHash, signature }: Partial<Record<string, unknown>>): boolean {
  return (
    typeof filesHash === 'string' && /^[0-9a-f]{64}$/.test(filesHash) && isTextOrNull(signature, maxSignatureChars)
  );
}

function isTextOrNull(value: unknown, maxChars: number): boolean {
  return value === null || (typeof value === 'string' && value.length <= maxChars);
}

function isProblems(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= problemBounds.problems &&
    value.every((item) => typeof item === 'string' && item.length <= problemBounds.problemChars)
  );
}

function isPackages(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > packageBounds.files) return false;
  const packages = value as Partial<Record<keyof BundledPackage, unknown>>[];
  return packages.every(isPackage) && packages.flatMap(({ files }) => files).length <= packageBounds.files;
}

function isPackage({ folder, name, version, license, bytes, files }: Partial<Record<keyof BundledPackage, unknown>>) {
  const { path, field } = packageTextBounds;
  return (
    typeof folder === 'string' &&
    isPath(folder) &&
    [name, version, license ?? ''].every((text) => typeof text === 'string' && text.length <= field) &&
    Number.isSafeInteger(bytes) &&
    Array.isArray(files) &&
    files.every(
      (file) => typeof file === 'string' && file.length <= path && file.startsWith(`${folder}/`) && isPath(file),
    )
  );
}

function isPath(path: string): boolean {
  return isOfDependency(path) && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}
