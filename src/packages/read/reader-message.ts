import { packageBounds } from '../files.ts';
import { runBounds } from '../../sandbox/run.ts';

/** The messages of the process that reads a package, one JSON document a line. */
export type ReaderMessage =
  | { type: 'ready' }
  /** For an archive, before any of its code is looked at: the SHA-256 of its files, and the text of their signature. */
  | { type: 'unpacked'; filesHash: string; signature: string | null }
  /**
   * `manifest` is the text of plugin.json, `code` the script; null = not readable. An invalid manifest has no
   * `problems` yet.
   */
  | { type: 'read'; manifest: string | null; code: string | null; problems: string[] };

/** The number and length of the problems that are reported for one package. */
export const problemBounds = { problems: 20, problemChars: 1000 } as const;

/** Characters of a signature at most; one of Ed25519 in base64 has 88. */
export const maxSignatureChars = 200;

/** The longest message of the process, in bytes: JSON may escape a character as six bytes. */
export const maxReaderLineBytes =
  6 * (packageBounds.manifestBytes + runBounds.bundleChars + problemBounds.problems * problemBounds.problemChars) +
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
  const isGood =
    message?.type === 'read' &&
    isTextOrNull(message.manifest, packageBounds.manifestBytes) &&
    isTextOrNull(message.code, runBounds.bundleChars) &&
    isProblems(message.problems);
  return isGood ? (message as ReaderMessage) : null;
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
