import type { Body } from '../../../shared/call.ts';

/** Bodies of trials are open; the fields of a case are these. */
type Trial = NonNullable<Body<'POST agent_bots/:id/try'>>;
/** Condition under which a question has passed; exactly one is set. */
export type Expectation = NonNullable<Trial['expect']>;

/** A question for a bot, and what the bot should do: a line of the file of `npx switchboard evals`. */
export interface EvalCase {
  question: string;
  history?: NonNullable<Trial['history']>;
  expect: Expectation;
}

type Fields = Record<string, unknown>;

const names = ['article', 'contains', 'handoff', 'answered', 'small_talk'];
/** Cases of one run in the console; `npx switchboard evals` takes more. */
export const maxCases = 500;
const maxProblems = 5;

/** Reads cases, a JSON object a line; throws an Error that names the lines that are none. The service checks the rest. */
export function readCases(text: string): EvalCase[] {
  const problems: string[] = [];
  const cases = text.split('\n').flatMap((line, index) => {
    if (line.replace('\uFEFF', '').trim() === '') return [];
    const read = readCase(line.replace('\uFEFF', ''));
    if (typeof read === 'object') return [read];
    problems.push(`Line ${index + 1}: ${read}`);
    return [];
  });
  if (problems.length > 0) throw new Error(tellProblems(problems));
  if (cases.length === 0) throw new Error('There are no cases. Enter one JSON object per line.');
  return cases;
}

/** The cases as lines, for a file. */
export function writeCases(cases: readonly EvalCase[]): string {
  return cases.map((one) => `${JSON.stringify(one)}\n`).join('');
}

/** Returns an expectation in words. */
export function describeExpectation({ article, contains, handoff, answered, small_talk: isTalk }: Expectation): string {
  if (article !== undefined) return `Cites “${article}”`;
  if (contains !== undefined) return `Contains ${contains.map((part) => `“${part}”`).join(', ')}`;
  if (handoff !== undefined) return handoff ? 'Hands off' : 'Does not hand off';
  if (answered !== undefined) return answered ? 'Answers' : 'Does not answer';
  return isTalk === false ? 'No small talk' : 'Small talk';
}

function readCase(line: string): EvalCase | string {
  const value = parse(line);
  if (value === null) return 'not a JSON object.';
  const { question, history, expect } = value;
  if (typeof question !== 'string' || question.trim() === '') return '`question` must be a text.';
  const [name = '', ...others] = Object.keys(isFields(expect) ? expect : {});
  if (!names.includes(name) || others.length > 0)
    return `\`expect\` must be an object with one of ${names.join(', ')}.`;
  const told = Array.isArray(history) ? { history: history as NonNullable<Trial['history']> } : {};
  return { question, ...told, expect: expect as Expectation };
}

function tellProblems(problems: readonly string[]): string {
  const rest = problems.length - maxProblems;
  return [...problems.slice(0, maxProblems), ...(rest > 0 ? [`And ${rest} more lines.`] : [])].join(' ');
}

function parse(line: string): Fields | null {
  try {
    const value: unknown = JSON.parse(line);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
