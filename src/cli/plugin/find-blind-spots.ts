import type { Finding } from './compare-uses.ts';
import { contextNames, hostOf, methodPattern } from './find-uses.ts';
import { blankOut, endOfBrackets, lineAt, splitTopLevel, type BlankedSource } from './source-text.ts';

/** A file of a bot. */
export interface SourceFile {
  file: string;
  source: string;
}

type Warn = (at: number, message: string) => void;

const onlyTheRun = 'the run decides, not this check';

/** Places where the code does what cannot be compared with the permissions by reading it, as warnings. */
export function findBlindSpots(files: readonly SourceFile[], { network }: { network: boolean }): Finding[] {
  const all = files.map(({ file, source }) => ({ file, source, ...blankOut(source) }));
  return all.flatMap(({ file, source, ...blanked }) => {
    const found: Finding[] = [];
    const warn: Warn = (at, message) => {
      found.push({ level: 'warning', file, line: lineAt(source, at), message });
    };
    for (const name of contextNames(blanked.code)) {
      warnOfMembers(blanked, name, warn);
      warnOfOtherNames(blanked, name, warn);
      warnOfCalls(blanked, { name, all }, warn);
    }
    if (network) warnOfRequests({ ...blanked, source }, warn);
    warnOfNames(blanked, warn);
    return found.sort((one, other) => one.line - other.line);
  });
}

function warnOfMembers({ code, literals }: BlankedSource, name: string, warn: Warn): void {
  const computed = new RegExp(`(?<![.\\w])${name}(\\s*\\??\\.\\s*(?:contact|storage))?\\s*(?:\\?\\.)?\\s*\\[\\s*`, 'g');
  for (const match of code.matchAll(computed)) {
    if (isLiteral(literals, match.index + match[0].length)) continue;
    const what = `${name}${match[1] ?? ''}`.replace(/[\s?]/g, '');
    warn(match.index, `\`${what}[…]\`: which member this is cannot be seen here; ${onlyTheRun}`);
  }
  for (const match of code.matchAll(new RegExp(`(?<![.\\w])${name}\\s*\\??\\.\\s*call\\s*\\(\\s*`, 'g'))) {
    const called = literals.find(({ at }) => at === match.index + match[0].length)?.text;
    if (called !== undefined && !called.startsWith('storage.')) continue;
    const what = called === undefined ? 'what this calls' : `the scope of \`${called}\``;
    warn(match.index, `\`${name}.call(…)\`: ${what} cannot be seen here; ${onlyTheRun}`);
  }
}

// `ctx`, or a part of it with members that need permissions, under a name that is not followed.
function warnOfOtherNames({ code }: BlankedSource, name: string, warn: Warn): void {
  const renamed = new RegExp(
    `(?<![=!<>}]\\s*)=\\s*(${name}(?:\\s*\\??\\.\\s*(?:contact|storage))?)\\s*(?=[;,)\\n]|$)`,
    'g',
  );
  for (const { index, 1: what = '' } of code.matchAll(renamed)) {
    warn(index, `\`${what}\` gets another name, under which its members are not seen; ${onlyTheRun}`);
  }
  const unpacked = new RegExp(`\\{([^{}]*)\\}\\s*=\\s*${name}\\b(?!\\s*\\??\\.)`, 'g');
  for (const { index, 1: words = '' } of code.matchAll(unpacked)) {
    const rest = /\.\.\.\s*\w+|\bstorage\b/.exec(words)?.[0];
    if (rest) warn(index, `\`${rest}\` is taken out of \`${name}\`, and its members are not seen; ${onlyTheRun}`);
  }
}

interface Following {
  name: string;
  all: readonly BlankedSource[];
}

function warnOfCalls({ code }: BlankedSource, { name, all }: Following, warn: Warn): void {
  const passed = new RegExp(`(?<=[(,]\\s*)(?<![.\\w])${name}(\\s*\\??\\.\\s*contact)?\\s*(?=[,)])`, 'g');
  for (const { index, 0: text, 1: part } of code.matchAll(passed)) {
    const call = callAround(code, index);
    if (!call) continue;
    const isFollowed = !part && all.some((file) => isNamedThere(file.code, call));
    if (isFollowed) continue;
    const remedy = part ? '' : `; call its parameter \`ctx\`, or give it the type \`Context\``;
    warn(index, `\`${text.trim()}\` is passed to \`${call.callee}\`, where its members are not seen${remedy}`);
  }
}

interface Call {
  callee: string;
  /** The number of the argument, from 0. */
  argument: number;
}

/** The call in whose arguments an index is; null where these are the parameters of a function. */
function callAround(code: string, index: number): Call | null {
  let depth = 0;
  let open = index - 1;
  for (; open >= 0 && (depth > 0 || code[open] !== '('); open -= 1) {
    if (code[open] === ')') depth += 1;
    if (code[open] === '(') depth -= 1;
  }
  const close = endOfBrackets(code, open + 1);
  if (open < 0 || /^\)\s*(?::[^={};]*)?(?:=>|\{)/.test(code.slice(close, close + 200))) return null;
  const callee = /([\w.]+)\s*$/.exec(code.slice(Math.max(0, open - 100), open))?.[1] ?? '';
  if (callee === '' || /^(?:if|while|for|switch|return|await)$/.test(callee)) return null;
  return { callee, argument: splitTopLevel(code.slice(open + 1, index)).length - 1 };
}

// Whether the function is in this file, and its parameter has a name under which members of `ctx` are found.
function isNamedThere(code: string, { callee, argument }: Call): boolean {
  const short = callee.split('.').at(-1) ?? '';
  const defined = new RegExp(
    `\\b(?:function\\s+${short}|${short}\\s*[=:]\\s*(?:async\\s*)?(?:function\\s*\\w*)?|(?:async\\s+)?${short})\\s*(?:<[^>]*>\\s*)?\\(`,
    'g',
  );
  const names = contextNames(code);
  for (const match of code.matchAll(defined)) {
    const begin = match.index + match[0].length;
    const end = endOfBrackets(code, begin);
    if (!/^\)\s*(?::[^={};]*)?(?:=>|\{)/.test(code.slice(end, end + 200))) continue;
    const parameter = /^\s*(\w+)/.exec(splitTopLevel(code.slice(begin, end))[argument] ?? '')?.[1];
    if (parameter !== undefined && names.includes(parameter)) return true;
  }
  return new RegExp(`\\b${short}\\s*=\\s*(?:async\\s*)?(\\w+)\\s*=>`).exec(code)?.[1] === 'ctx';
}

function warnOfRequests({ code, literals, source }: BlankedSource & { source: string }, warn: Warn): void {
  for (const match of code.matchAll(/\bfetch\s*\(\s*/g)) {
    const start = match.index + match[0].length;
    const end = endOfBrackets(code, start);
    const [, options = ''] = splitTopLevel(code.slice(start, end));
    const address = literals.find(({ at }) => at === start)?.text;
    if (address === undefined || hostOf(address, source[start + address.length + 1] === '$') === null) {
      warn(
        match.index,
        `the host of this \`fetch\` is computed, and is compared with permissions.network.hosts only by the run`,
      );
    }
    const isPlain = options.trim() === '' || (options.trim().startsWith('{') && !/\.\.\./.test(options));
    const text = source.slice(start, end);
    if (isPlain && (!/\bmethod\b/.test(options) || methodPattern.test(text))) continue;
    warn(
      match.index,
      `the method of this \`fetch\` is computed, and is compared with permissions.network.methods only by the run`,
    );
  }
}

function warnOfNames({ code, literals }: BlankedSource, warn: Warn): void {
  for (const match of code.matchAll(/(?<![.\w])secret\s*\(\s*(?=\S)/g)) {
    if (isLiteral(literals, match.index + match[0].length)) continue;
    warn(
      match.index,
      `the name of this \`secret\` is computed: whether permissions.secrets lists it, only the run sees`,
    );
  }
  for (const { index, 0: what } of code.matchAll(/\bnew\s+Function\b|(?<![.\w])eval\s*\(/g)) {
    warn(index, `\`${what.replace(/\s*\($/, '')}\` makes code out of text, which is not seen here; ${onlyTheRun}`);
  }
}

function isLiteral(literals: BlankedSource['literals'], index: number): boolean {
  return literals.some(({ at }) => at === index);
}
