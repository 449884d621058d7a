import { packageBounds } from './files.ts';
import { runBounds } from '../sandbox/run.ts';

/** The messages of the process that reads a package, one JSON document a line. */
export type PackageAnswer =
  | { type: 'ready' }
  /**
   * `manifest` is the text of plugin.json, `code` the script; null = not readable. An invalid manifest has no
   * `problems` yet.
   */
  | { type: 'read'; manifest: string | null; code: string | null; problems: string[] };

/** The number and length of the problems that are reported for one package. */
export const answerBounds = { problems: 20, problemChars: 1000 } as const;

/** The longest answer in bytes: JSON may escape a character as six bytes. */
export const maxAnswerBytes =
  6 * (packageBounds.manifestBytes + runBounds.bundleChars + answerBounds.problems * answerBounds.problemChars) + 1024;

/** Parses and validates a line of the process; null when it is not a valid message. */
export function readPackageAnswer(line: string): PackageAnswer | null {
  let answer: Partial<Record<string, unknown>> | null;
  try {
    answer = JSON.parse(line) as Partial<Record<string, unknown>> | null;
  } catch {
    return null;
  }
  if (answer?.type === 'ready') return { type: 'ready' };
  const isGood =
    answer?.type === 'read' &&
    isTextOrNull(answer.manifest, packageBounds.manifestBytes) &&
    isTextOrNull(answer.code, runBounds.bundleChars) &&
    isProblems(answer.problems);
  return isGood ? (answer as PackageAnswer) : null;
}

function isTextOrNull(value: unknown, maxChars: number): boolean {
  return value === null || (typeof value === 'string' && value.length <= maxChars);
}

function isProblems(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= answerBounds.problems &&
    value.every((item) => typeof item === 'string' && item.length <= answerBounds.problemChars)
  );
}
