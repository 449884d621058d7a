import type {
  AnyNode,
  AssignmentProperty,
  MemberExpression,
  MethodDefinition,
  Property,
  PropertyDefinition,
} from 'acorn';
import type { SyntaxTree } from './syntax-tree.ts';

/** The text that an expression begins with; `isWhole` if nothing is computed behind it. */
export interface KnownText {
  text: string;
  isWhole: boolean;
}

const unknown: KnownText = { text: '', isWhole: false };
const maxDepth = 20;

/** The text of an expression as far as it is written in the file: literals, templates, sums and constants. */
export function textOf(tree: SyntaxTree, node: AnyNode | null | undefined, depth = 0): KnownText {
  if (!node || depth > maxDepth) return unknown;
  if (node.type === 'Literal') return typeof node.value === 'string' ? { text: node.value, isWhole: true } : unknown;
  if (node.type === 'BinaryExpression' && node.operator === '+') {
    return joined(textOf(tree, node.left, depth + 1), () => textOf(tree, node.right, depth + 1));
  }
  if (node.type === 'TemplateLiteral') {
    return node.quasis.reduce<KnownText>(
      (before, quasi, index) =>
        joined(before, () => {
          const text: KnownText = { text: quasi.value.cooked ?? '', isWhole: true };
          const expression = node.expressions[index];
          return expression ? joined(text, () => textOf(tree, expression, depth + 1)) : text;
        }),
      { text: '', isWhole: true },
    );
  }
  const value = constantOf(tree, node);
  return value === node ? unknown : textOf(tree, value, depth + 1);
}

/** The expression that a constant stands for; any other expression as it is. */
export function constantOf(tree: SyntaxTree, node: AnyNode): AnyNode {
  const declaration = node.type === 'Identifier' ? tree.bindingOf(node)?.declaration : null;
  if (declaration?.type !== 'VariableDeclarator' || !declaration.init) return node;
  const list = tree.parentOf(declaration);
  return list?.type === 'VariableDeclaration' && list.kind === 'const' ? declaration.init : node;
}

/** The name of a member or a property; null where it is computed. */
export function nameOf(
  tree: SyntaxTree,
  node: AssignmentProperty | MemberExpression | MethodDefinition | Property | PropertyDefinition,
): string | null {
  const key = node.type === 'MemberExpression' ? node.property : node.key;
  if (!node.computed && key.type === 'Identifier') return key.name;
  const { text, isWhole } = textOf(tree, key);
  return isWhole ? text : null;
}

function joined(before: KnownText, next: () => KnownText): KnownText {
  if (!before.isWhole) return before;
  const { text, isWhole } = next();
  return { text: before.text + text, isWhole };
}
