import { packageBounds } from './files.ts';
import { runBounds } from '../sandbox/run.ts';

/** What the process that reads a package says, one JSON document per line. */
export type PackageAnswer =
  | { type: 'ready' }
  /** `manifest` is the text of plugin.json; `code` is the script, or null with the reasons, none where plugin.json names no main file. */
  | { type: 'read'; manifest: string | null; code: string | null; problems: string[] };

/** The most that is told of a broken package. */
export const answerBounds = { problems: 20, problemChars: 1000 } as const;

/** The longest answer in bytes: JSON may need six for one character. */
export const maxAnswerBytes =
  6 * (packageBounds.manifestBytes + runBounds.bundleChars + answerBounds.problems * answerBounds.problemChars) + 1024;

/** Reads a line of the process; null when it is anything but an answer as it should be. */
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
