import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PackageFiles } from '../../packages/files.ts';
import type { Manifest } from '../../packages/manifest/manifest.ts';
import { isSetting } from '../../packages/manifest/setting-hosts.ts';
import type { ReadPackage } from '../../packages/read/read.ts';
import { compareUses, type Finding } from './compare-uses.ts';
import { textOf } from './constants.ts';
import { findUses } from './find-uses.ts';
import { parseSource, type SyntaxTree } from './syntax-tree.ts';

/** Returns findings about a valid package: permissions that its code uses but lacks, or has but does not use; blind spots. */
export function lookAtCode(
  directory: string,
  { manifest, manifestText }: Pick<ReadPackage, 'manifest' | 'manifestText'>,
): Finding[] {
  const looks = manifest.parts.map((part) => lookAtPart(directory, part, manifestText));
  const findings = looks.flatMap(({ part, found }) =>
    found.map((one) => ({
      ...one,
      level: isOfOthers(one, looks) ? ('warning' as const) : one.level,
      message: inPart(part, one),
    })),
  );
  return findings.filter((one, at) => findings.findIndex((other) => isDeepStrictEqual(one, other)) === at);
}

/** A part, the files that it reaches, and the findings about them. */
interface Look {
  part: Manifest;
  files: ReadonlySet<string>;
  found: readonly Finding[];
}

function lookAtPart(directory: string, part: Manifest, text: string): Look {
  const read = readTrees(directory, part.main);
  if (!Array.isArray(read)) return { part, files: new Set(), found: [read] };
  const { kind, isPart, permissions } = part;
  const uses = findUses(read);
  // Accounts choose the hosts that settings name.
  const isChosen = permissions.network?.hosts.some(isSetting) ?? false;
  const blindSpots = uses.blindSpots.filter(({ hidden }) => !(isChosen && hidden === 'hosts'));
  const compared = compareUses(uses, permissions, { text, part: isPart ? ['parts', kind] : [] });
  const found = [...compared, ...blindSpots.map(({ finding }) => finding)];
  return { part, files: new Set(read.map(({ file }) => file)), found };
}

// Parts may share files: which one calls what in them is not known here, and one of them may do it.
function isOfOthers({ level, file, message }: Finding, looks: readonly Look[]): boolean {
  const isLack = (one: Finding) =>
    one.level === 'error' && one.file === file && lackOf(one.message) === lackOf(message);
  return level === 'error' && looks.some(({ files, found }) => files.has(file) && !found.some(isLack));
}

// The place of the permissions is another one in each part.
function lackOf(message: string): string {
  return message.replace(/ \(plugin\.json.*\)$/, '');
}

function inPart({ kind, isPart }: Manifest, { message }: Finding): string {
  return isPart ? `in the part ${kind}: ${message}` : message;
}

/** Parses the main file and its imports, by the rules of the service's reader; returns a warning if that fails. */
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

/** Returns the files that a file imports, as it names them. */
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
