import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Text of files by their path from the project's root. */
export type Sources = ReadonlyMap<string, string>;

/** An import: of a file of the project, by its path, or of a package or built-in module, by its name. */
export interface Import {
  target: string;
  isFile: boolean;
  /** Whether it is erased before the program runs. */
  typeOnly: boolean;
}

/** All TypeScript and JavaScript files in the folders, relative to `root`. */
export function readSources(root: string, folders: readonly string[]): Sources {
  const sources = new Map<string, string>();
  for (const folder of folders) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.[jt]sx?$/.test(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      sources.set(path.slice(root.length).replace(/^\//, ''), readFileSync(path, 'utf8'));
    }
  }
  return sources;
}

const token =
  /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`|(?<=(?:^|[=(,:;!&|?{}[]|=>|return)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/;

// Cached, because planted violations are checked among the same files again and again.
const codes = new Map<string, string>();
const imports = new Map<string, { text: string; found: Import[] }>();

/** The text without comments, regular expressions and contents of strings, except for code in a template's `${}`. */
export function codeOf(text: string): string {
  const known = codes.get(text);
  if (known !== undefined) return known;
  const code = readCode(text);
  codes.set(text, code);
  return code;
}

function readCode(text: string): string {
  let code = '';
  let rest = text;
  for (;;) {
    const found = token.exec(rest);
    if (!found) return code + rest;
    code += rest.slice(0, found.index);
    rest = rest.slice(found.index + found[0].length);
    if (found[0] !== '`') {
      code += /^['"]/.test(found[0]) ? "''" : ' ';
      continue;
    }
    const template = readTemplate(rest);
    code += `\`${template.code}\``;
    rest = rest.slice(template.length);
  }
}

/** The code in a template literal, from behind its first backtick, and the literal's end. */
function readTemplate(text: string): { code: string; length: number } {
  let code = '';
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '`') return { code, length: at + 1 };
    else if (text.startsWith('${', at)) {
      const end = endOfSubstitution(text, at + 2);
      code += ` \${${readCode(text.slice(at + 2, end))}} `;
      at = end;
    }
  }
  return { code, length: text.length };
}

function endOfSubstitution(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '`') at += readTemplate(text.slice(at + 1)).length;
    else if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}

const statement = /^[ \t]*(?:import|export)\s+(type\s+)?(?:[\w$*\s{},]*?\bfrom\s*)?['"]([^'"\n]+)['"]/gm;
const call = /\b(?:import|require)\s*\(\s*['"]([^'"\n]+)['"]/g;

/** All imports of a file. */
export function importsOf(path: string, text: string): Import[] {
  const known = imports.get(path);
  if (known?.text === text) return known.found;
  const found = readImports(path, text);
  imports.set(path, { text, found });
  return found;
}

function readImports(path: string, text: string): Import[] {
  const bare = text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/^\s*\/\/[^\n]*$/gm, '');
  const found = [
    ...[...bare.matchAll(statement)].map(([, type, target]) => ({
      target: target ?? '',
      typeOnly: type !== undefined,
    })),
    ...[...bare.matchAll(call)].map(([, target]) => ({ target: target ?? '', typeOnly: false })),
  ];
  return found.map(({ target, typeOnly }) => {
    const isFile = target.startsWith('.');
    return { target: isFile ? join(path, '..', target) : target, isFile, typeOnly };
  });
}

/** Whether a file is in a folder, at any depth. */
export function isInside(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}
