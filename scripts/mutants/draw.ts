// Mistakes drawn by chance: small changes of the syntax tree that compile and that a person could make.
import { Visitor } from 'oxc-parser';
import { parse } from './scopes.ts';

/** A change of one place of a file. */
export interface Change {
  start: number;
  end: number;
  replacement: string;
}

const opposites: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '-': '+',
  '*': '/',
  '&&': '||',
  '||': '&&',
};
const dropped = new Set(['filter', 'sort', 'toSorted', 'slice', 'trim', 'toReversed']);
/** A condition of a statement of SQL that stands beside others. */
const conjunct = /\s+AND\s+[^()`;]+?(?=\s+(?:AND|OR|ORDER|LIMIT|GROUP|RETURNING|FOR)\b|$)/g;

/** Returns every change that can be drawn in a file. */
export function changesOf(file: string, source: string): Change[] {
  const changes: Change[] = [];
  const add = (start: number, end: number, replacement: string): void => void changes.push({ start, end, replacement });
  const text = ({ start, end }: { start: number; end: number }): string => source.slice(start, end);
  const swapOperator = (node: {
    start: number;
    end: number;
    operator: string;
    left: { end: number };
    right: { start: number };
  }): void => {
    const opposite = opposites[node.operator];
    if (opposite === undefined) return;
    const between = source.slice(node.left.end, node.right.start);
    add(
      node.left.end,
      node.right.start,
      between.replace(node.operator, () => opposite),
    );
  };
  new Visitor({
    BinaryExpression: swapOperator,
    LogicalExpression: (node) => {
      swapOperator(node);
      add(node.start, node.end, node.operator === '??' ? text(node.left) : text(node.right));
    },
    UnaryExpression: (node) => void (node.operator === '!' && add(node.start, node.end, text(node.argument))),
    IfStatement: (node) => void (node.alternate === null && add(node.start, node.end, '')),
    ConditionalExpression: (node) =>
      add(node.start, node.end, `(${text(node.test)}) ? ${text(node.alternate)} : ${text(node.consequent)}`),
    ExpressionStatement: ({ expression, start, end }) => {
      const call = expression.type === 'AwaitExpression' ? expression.argument : expression;
      if (call.type === 'CallExpression' || call.type === 'AssignmentExpression') add(start, end, '');
    },
    CallExpression: ({ callee, start, end }) => {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      if (dropped.has(callee.property.name)) add(start, end, text(callee.object));
    },
    AssignmentExpression: ({ operator, left, right }) => {
      const other = { '??=': '=', '+=': '-=', '-=': '+=' }[operator as string];
      if (other !== undefined) add(left.end, right.start, ` ${other} `);
    },
    Literal: (node) => {
      if (typeof node.value === 'boolean') add(node.start, node.end, String(!node.value));
      if (typeof node.value === 'number') add(node.start, node.end, String(node.value + 1));
    },
    TemplateElement: (node) => {
      for (const match of text(node).matchAll(conjunct))
        add(node.start + match.index, node.start + match.index + match[0].length, '');
    },
  }).visit(parse(file, source));
  return changes.filter(({ start, end, replacement }) => source.slice(start, end) !== replacement);
}

/** Returns `count` of the values, by a seed. */
export function sample<Value>(values: readonly Value[], count: number, seed: number): Value[] {
  const random = generator(seed);
  return values
    .map((value) => ({ value, place: random() }))
    .sort((one, other) => one.place - other.place)
    .slice(0, count)
    .map(({ value }) => value);
}

/** A generator of fractions below one that a seed repeats (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
