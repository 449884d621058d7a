import { readFile } from 'node:fs/promises';
import { OperatorError } from '../../lib/operator-error.ts';
import { findProblems, type Shape } from '../../schemas.ts';

/** Condition under which a question has passed; exactly one is set. */
export type Expectation = NonNullable<Shape<'requests/bot.try'>['expect']>;

/** A line of the file. */
export interface EvalCase extends Shape<'requests/bot.try'> {
  expect: Expectation;
}

type Fields = Record<string, unknown>;

const kinds: Readonly<Record<keyof Expectation, (value: unknown) => boolean>> = {
  article: isText,
  contains: (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
  handoff: (value) => typeof value === 'boolean',
  answered: (value) => typeof value === 'boolean',
  small_talk: (value) => typeof value === 'boolean',
};
const maxCases = 2000;

/** Reads the cases of a file, a JSON object a line. Throws OperatorError with the number of each line that is none. */
export async function readCases(file: string): Promise<EvalCase[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`${file} cannot be read: ${error.code ?? error.message}`, { cause: error });
  });
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const read = lines.flatMap((line, index) => (line.trim() === '' ? [] : [readCase(line, `${file}:${index + 1}`)]));
  const problems = read.filter((one) => typeof one === 'string');
  if (problems.length > 0) throw new OperatorError(problems.join('\n'));
  if (read.length === 0) throw new OperatorError(`There are no questions in ${file}: write a JSON object a line.`);
  if (read.length > maxCases) throw new OperatorError(`There are more than ${maxCases} questions in ${file}.`);
  return read as EvalCase[];
}

/** The case in a line, or a sentence that says why there is none. */
function readCase(line: string, place: string): EvalCase | string {
  const value = parse(line);
  if (value === null) return `${place}: this is not a JSON object`;
  const { question, history, expect } = value;
  const trial = { question, ...(history === undefined ? {} : { history }) };
  const [problem] = findProblems('requests/bot.try', trial, 'The line');
  if (problem) return `${place}: ${problem.message}`;
  const known = Object.entries(kinds).map(([name, isValid]) => ({ name, isValid }));
  const [[name, wanted] = [], ...others] = Object.entries((expect ?? {}) as Fields);
  const kind = known.find((one) => one.name === name);
  if (!kind || others.length > 0) {
    return `${place}: \`expect\` must be an object with one of ${known.map((one) => one.name).join(', ')}`;
  }
  if (!kind.isValid(wanted)) return `${place}: \`expect.${kind.name}\` has a value that cannot be expected`;
  return { ...trial, expect } as EvalCase;
}

function parse(line: string): Fields | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}
