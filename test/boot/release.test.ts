import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { FakeNpm } from '../support/fake-npm.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Published {
  name: string;
  version: string;
  files: { path: string }[];
}

describe('the package in the npm registry', function () {
  this.timeout(300_000);

  it('is published under its public name, without a warning, with types and the page for authors', async () => {
    const registry = await FakeNpm.start();
    try {
      const clean = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$/i.test(name));
      const env = { ...Object.fromEntries(clean), ...registry.env };
      const child = spawn(process.execPath, [join(root, 'scripts/release.ts'), '--dry-run', '--json'], {
        cwd: root,
        env,
      });
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      expect(errors).to.not.match(/warn|error/i);
      expect(child.exitCode, errors).to.equal(0);
      const published = JSON.parse(output.slice(output.indexOf('{'))) as Record<string, Published>;
      const { name, version, files = [] } = published[packageJson.publishAs] ?? {};
      expect([name, version]).to.deep.equal([packageJson.publishAs, packageJson.version]);
      const paths = files.map(({ path }) => path);
      expect(paths).to.include.members([
        'LICENSE',
        'README.md',
        'bin/switchboard.js',
        'bots/faq/bot.ts',
        'dist/cli/main.js',
        'dist/packages/bot-api.d.ts',
        'dist/testing/testing.d.ts',
        'docs/plugins.md',
        'package.json',
        'schemas/runtime/plugin.json',
        'templates/rule/bot.ts',
      ]);
      expect(
        paths.filter(
          (path) => !/^(?:bin|bots|dist|docs|plugins|schemas|templates|web\/dist)\/|^[\w-]+(?:\.\w+)?$/.test(path),
        ),
      ).to.deep.equal([]);
      expect(paths.filter((path) => /(?:^|\/)(?:\.env|\.npmrc|node_modules|\.data)(?:\/|$)/.test(path))).to.deep.equal(
        [],
      );
      // npm asks whether the version is there, and sends nothing.
      expect([...new Set(registry.asked)].filter((path) => path !== packageJson.publishAs)).to.deep.equal([]);
    } finally {
      await registry.close();
    }
  });

  it('has one name in all pages, and provenance', () => {
    const { publishAs, publishConfig } = packageJson;
    expect(publishAs).to.match(/^@[a-z-]+\/[a-z-]+$/);
    expect(publishConfig).to.deep.equal({ access: 'public', provenance: true });
    for (const page of ['docs/registry.md', 'docs/plugins.md']) {
      const named = readFileSync(join(root, page), 'utf8').match(/@switchboard\/[\w-]+/g) ?? [];
      expect(new Set(named), page).to.deep.equal(new Set([publishAs]));
    }
  });
});
