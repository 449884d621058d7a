import { parseExpressionAt, type AnyNode } from 'acorn';

interface Place {
  key: AnyNode;
  value: AnyNode;
}

/**
 * The line of a member of a JSON document, or of the nearest member around it that is there; within a list the path goes on by
 * the `kind` of an object. With `item`, that of this text in the list that the member holds, or of the object there with this `name`. Null for text that is no JSON.
 */
export function lineOfJson(text: string, path: readonly string[], item?: string): number | null {
  let value: AnyNode;
  try {
    // JSON is an expression of JavaScript.
    value = parseExpressionAt(text.replace(/^\uFEFF/, ' '), 0, { ecmaVersion: 'latest', locations: true });
  } catch {
    return null;
  }
  let line: number | null = null;
  for (const key of path) {
    const member: Place | undefined = memberOf(value, key) ?? objectIn(value, key);
    if (!member) return line;
    line = lineOf(member.key);
    ({ value } = member);
  }
  const items = value.type === 'ArrayExpression' ? value.elements : [];
  const found = items.find((node) => node && textOf(memberOf(node, 'name')?.value ?? node) === item);
  return found ? lineOf(found) : line;
}

function memberOf(node: AnyNode, key: string) {
  const members = node.type === 'ObjectExpression' ? node.properties : [];
  return members.filter((member) => member.type === 'Property').find((member) => textOf(member.key) === key);
}

function objectIn(node: AnyNode, kind: string): Place | undefined {
  const items = node.type === 'ArrayExpression' ? node.elements : [];
  const found = items.find((item) => item && textOf(memberOf(item, 'kind')?.value ?? item) === kind);
  return found ? { key: found, value: found } : undefined;
}

function textOf(node: AnyNode): unknown {
  return node.type === 'Literal' ? node.value : null;
}

function lineOf(node: AnyNode): number {
  return node.loc?.start.line ?? 1;
}
