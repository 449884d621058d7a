import type { ReadPackage } from '../../packages/read/read.ts';

type Package = Pick<ReadPackage['packages'][number], 'name' | 'version' | 'license' | 'bytes'>;

/** Returns a line for each npm package in a plugin: version, licence, and the bytes that it adds. */
export function packageLines(packages: readonly Package[]): string[] {
  return packages.map(
    ({ name, version, license, bytes }) => `${name} ${version} (${license ?? 'no licence named'}), ${bytes} bytes`,
  );
}
