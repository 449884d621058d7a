import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { PackageFiles } from '../../packages/files.ts';
import type { ReadPackage } from '../../packages/read.ts';
import { compareUses, type Finding } from './compare-uses.ts';
import { findBlindSpots, type SourceFile } from './find-blind-spots.ts';
import { findUses, type Use } from './find-uses.ts';
import { blankOut } from './source-text.ts';

const beforeImport = /\b(?:from|import|require)\s*\(?\s*$/;
const longestBefore = 40;

/** What the code of a valid package uses without asking for it, what it asks for without using it, and where that cannot be seen. */
export function lookAtCode(
  directory: string,
  { manifest, manifestText }: Pick<ReadPackage, 'manifest' | 'manifestText'>,
): Finding[] {
  const files = readSources(directory, manifest.main);
  const uses = files.flatMap(({ file, source }): Use[] => findUses(file, source));
  const network = uses.some(({ permission }) => permission === 'network');
  return [...compareUses(uses, manifest.permissions, manifestText), ...findBlindSpots(files, { network })];
}

/** The main file and what it imports, by the rules by which the service reads a package. */
function readSources(directory: string, main: string): SourceFile[] {
  const files = new PackageFiles(realpathSync(directory));
  const names = [files.locate(main)];
  const sources: SourceFile[] = [];
  for (const file of names) {
    if (file.endsWith('.json')) continue;
    const source = files.read(file);
    sources.push({ file, source });
    for (const path of importsOf(source)) {
      const imported = files.locate(path, dirname(file));
      if (!names.includes(imported)) names.push(imported);
    }
  }
  return sources;
}

/** The files that the program imports, as it names them. */
function importsOf(source: string): string[] {
  const { code, literals } = blankOut(source);
  const isImported = ({ at, text }: { at: number; text: string }) =>
    /^\.{1,2}\//.test(text) && beforeImport.test(code.slice(Math.max(0, at - longestBefore), at));
  return literals.filter(isImported).map(({ text }) => text);
}
