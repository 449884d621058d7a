import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { PackageFiles } from '../../packages/files.ts';
import type { ReadPackage } from '../../packages/read/read.ts';
import { compareUses, type Finding } from './compare-uses.ts';
import { textOf } from './constants.ts';
import { findUses } from './find-uses.ts';
import { parseSource, type SyntaxTree } from './syntax-tree.ts';

/** What the code of a valid package uses without asking for it, what it asks for without using it, and where that cannot be seen. */
export function lookAtCode(
  directory: string,
  { manifest, manifestText }: Pick<ReadPackage, 'manifest' | 'manifestText'>,
): Finding[] {
  const read = readTrees(directory, manifest.main);
  if (!Array.isArray(read)) return [read];
  const uses = findUses(read);
  return [...compareUses(uses, manifest.permissions, manifestText), ...uses.blindSpots];
}

/** The main file and what it imports, by the rules by which the service reads a package; a warning where that fails. */
function readTrees(directory: string, main: string): SyntaxTree[] | Finding {
  const files = new PackageFiles(realpathSync(directory));
  const names = new Set([files.locate(main)]);
  const trees: SyntaxTree[] = [];
  for (const file of names) {
    if (file.endsWith('.json')) continue;
    try {
      const tree = parseSource(file, files.read(file));
      trees.push(tree);
      for (const path of importsOf(tree)) names.add(files.locate(path, dirname(file)));
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
      const message = `this file could not be compared with the permissions: ${error.message}`;
      return { level: 'warning', file, line: (error as { loc?: { line: number } }).loc?.line ?? 1, message };
    }
  }
  return trees;
}

/** The files that a file imports, as it names them. */
function importsOf(tree: SyntaxTree): string[] {
  const paths = tree.nodes.flatMap((node) => {
    if (node.type === 'CallExpression') {
      const isRequire = node.callee.type === 'Identifier' && node.callee.name === 'require';
      return isRequire ? [textOf(tree, node.arguments[0]).text] : [];
    }
    return 'source' in node && node.source ? [textOf(tree, node.source).text] : [];
  });
  return paths.filter((path) => /^\.{1,2}\//.test(path));
}
