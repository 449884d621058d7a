// Named parts of a source file, by its syntax tree: functions, methods, and declarations of a module.
import { parseSync, Visitor, type Program } from 'oxc-parser';

/** A named part of a file: `send`, or `Transaction.record` for a method; places count UTF-16 units. */
export interface Scope {
  name: string;
  start: number;
  end: number;
}

/** Returns the syntax tree of a TypeScript file. Throws where it does not parse. */
export function parse(file: string, source: string): Program {
  const { program, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  return program;
}

/** Returns the named parts of a file, in no order. */
export function scopesOf(program: Program): Scope[] {
  const scopes: Scope[] = declarationsOf(program);
  const classes: Scope[] = [];
  const addMember = ({ key, start, end }: { key: { type: string }; start: number; end: number }): void => {
    if (!('name' in key) || typeof key.name !== 'string') return;
    const name = key.type === 'PrivateIdentifier' ? `#${key.name}` : key.name;
    const owner = classes.findLast((one) => one.end > start);
    scopes.push({ name: owner ? `${owner.name}.${name}` : name, start, end });
  };
  new Visitor({
    ClassDeclaration: ({ id, start, end }) => void classes.push({ name: id?.name ?? 'default', start, end }),
    FunctionDeclaration: ({ id, start, end }) => void (id && scopes.push({ name: id.name, start, end })),
    MethodDefinition: addMember,
    PropertyDefinition: addMember,
    VariableDeclarator: ({ id, init, start, end }) => {
      const isFunction = init?.type === 'ArrowFunctionExpression' || init?.type === 'FunctionExpression';
      if (isFunction && id.type === 'Identifier') scopes.push({ name: id.name, start, end });
    },
  }).visit(program);
  return scopes;
}

function declarationsOf({ body }: Program): Scope[] {
  return body.flatMap((statement) => {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declaration?.type !== 'VariableDeclaration') return [];
    const [first] = declaration.declarations;
    if (first?.id.type !== 'Identifier') return [];
    return [{ name: first.id.name, start: statement.start, end: statement.end }];
  });
}
