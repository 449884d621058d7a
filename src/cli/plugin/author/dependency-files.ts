import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { modulesAbove, PackageFiles } from '../../../packages/files.ts';
import { readPackage } from '../../../packages/read/read.ts';
import { orRefuse } from './or-refuse.ts';

/** The file of an archive that names the npm packages in it, with their licences. */
export const noticesFile = 'THIRD-PARTY-NOTICES.txt';

const licenceName = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
const maxLicenceBytes = 64 * 1024;

/**
 * Returns the files of npm packages that the code of a folder uses, by their paths, and a notice of their licences: with them
 * an archive needs no registry. Throws OperatorError where the folder's code cannot be bundled.
 */
export async function dependencyFilesOf(folder: string): Promise<Map<string, Buffer>> {
  const { packages } = await orRefuse(readPackage(folder));
  const real = realpathSync(folder);
  const source = new PackageFiles(real, modulesAbove(real));
  const files = new Map<string, Buffer>();
  for (const path of packages.flatMap((each) => each.files)) files.set(path, Buffer.from(source.read(path)));
  const notices = packages.map(({ folder: place, name, version, license }) =>
    [`${name} ${version} (${license ?? 'no licence named'})`, ...licencesIn(source.installedAt(place))].join('\n\n'),
  );
  if (notices.length > 0)
    files.set(noticesFile, Buffer.from(`${begin}\n\n${notices.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`));
  return files;
}

const begin = 'This plugin contains code of these npm packages, under licences of their own.';

function licencesIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => licenceName.test(name));
  return names.toSorted().flatMap((name) => {
    const found = lstatSync(join(folder, name));
    return found.isFile() && found.size <= maxLicenceBytes ? [readFileSync(join(folder, name), 'utf8').trim()] : [];
  });
}
