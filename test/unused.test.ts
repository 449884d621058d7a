import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const copied = [
  'src',
  'test',
  'bench',
  'scripts',
  'bots',
  'plugins',
  'bin',
  'schemas',
  'web',
  'tsconfig.json',
  'knip.json',
];
const settings = ['.mocharc.json', '.oxlintrc.json', '.oxfmtrc.json'];

/** A copy of the sources, with the packages that are installed here. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-unused-'));
  for (const name of [...copied, ...settings]) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  manifest.dependencies['planted-package'] = '1.0.0';
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  return folder;
}

describe('the search for what nobody uses', function () {
  this.timeout(60_000);

  it('finds a file, an export, a type and a dependency that were planted, and nothing else', () => {
    const folder = copyProject();
    try {
      writeFileSync(join(folder, 'src/lib/planted-file.ts'), 'export const lonely = 1;\n');
      appendFileSync(
        join(folder, 'src/lib/unix-time.ts'),
        'export function plantedVerb(): void {}\nexport interface PlantedShape {\n  one: number;\n}\n',
      );
      const { status, stdout } = spawnSync(
        process.execPath,
        [join(root, 'node_modules/knip/bin/knip.js'), '--no-progress', '--no-config-hints', '--reporter', 'compact'],
        { cwd: folder, encoding: 'utf8' },
      );
      expect(status).to.equal(1);
      const found = stdout.split('\n').filter((line) => line.includes(': '));
      expect(found).to.deep.equal([
        'src/lib/planted-file.ts: src/lib/planted-file.ts',
        'package.json: planted-package',
        'src/lib/unix-time.ts: plantedVerb',
        'src/lib/unix-time.ts: PlantedShape',
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
