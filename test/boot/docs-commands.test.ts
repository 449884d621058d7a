import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { adminToken } from '../support/app.ts';
import { createDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { newFolder, removeFolders } from './helpers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = ['README.md', ...globSync(['docs/*.md', 'plugins/*/README.md'], { cwd: root }).sort()];

/** Why a block is not run here: the start of the block, and where it runs or what it would need. */
const elsewhere: Record<string, readonly (readonly [string, string])[]> = {
  'README.md': [
    ['npm ci --omit=dev\nnpm start', 'test/boot/packed.test.ts starts the service so'],
    ['npm run demo', 'test/boot/demo.test.ts plays it'],
    ['npm ci && npm test', 'is the suite itself'],
  ],
  'docs/channels.md': [
    ['curl "https://api.telegram.org', 'test/runs/telegram.test.ts sets the webhook of a stand-in of Telegram'],
    ['npx switchboard plugin test', 'test/boot/author-commands.test.ts runs the tests of the template'],
  ],
  'docs/hooks.md': [
    ['call $API/hooks', 'test/api/accounts/hooks.test.ts creates hooks so'],
    ['npx switchboard trigger hook', 'test/cli/hook-commands.test.ts sends samples so'],
    ['npx switchboard plugin hooks', 'test/cli/hook-commands.test.ts lists and listens so'],
  ],
  'docs/knowledge.md': [['cat > questions.jsonl', 'test/cli/evals.test.ts asks bots questions so']],
  'docs/migrating.md': [
    ['export CHATWOOT_TOKEN', 'test/cli/import-chatwoot.test.ts imports from a stand-in of Chatwoot'],
  ],
  'docs/operating.md': [
    ['export MOVE_TO_DATABASE_URL', 'test/boot/move.test.ts moves so'],
    ['npx switchboard restore', 'test/boot/backups.test.ts restores, verifies and starts so'],
    ['DATA_DIR=restored npx switchboard start --adopt', 'test/boot/backups.test.ts adopts so'],
    ['pg_dump', "needs PostgreSQL's client programs, which not every machine has"],
    ['PORT=3000', 'needs an engine of Docker; test/compose.test.ts checks the file'],
  ],
  'docs/plugins.md': [['', 'test/boot/plugin-docs.test.ts runs this page']],
  'docs/registry.md': [['', 'needs the npm registry; test/boot/plugin-docs.test.ts makes a bot so from an archive']],
  'docs/webhooks.md': [['', 'test/cli/webhooks-page.test.ts runs this page']],
};

function blocksOf(page: string): string[] {
  const markdown = readFileSync(join(root, page), 'utf8');
  return Array.from(markdown.matchAll(/^```(?:sh|bash)\n(.*?)^```$/gms), ([, block]) => block ?? '');
}

/** `API`, `TOKEN`, `call` and `id_of`, which docs/api.md defines and the other pages use. */
const definitions = (blocksOf('docs/api.md')[0] ?? '').split('\n\n')[0] ?? '';

function reasonFor(page: string, block: string): string | undefined {
  return elsewhere[page]?.find(([start]) => block.startsWith(start))?.[1];
}

// The commands are this checkout's, and an error of the service ends the script.
const prelude = `
set -euo pipefail
npx() { shift; "$NODE" "$LAUNCHER" "$@"; }
curl() { command curl --fail-with-body "$@"; }
`;

describe('The commands of README.md, docs and plugins', function () {
  this.timeout(300_000);
  let service: ServiceProcess;
  let databaseUrl: string;
  let identifier: string;
  let folder: string;

  before(async () => {
    databaseUrl = await createDatabase();
    folder = newFolder();
    furnish(folder);
    service = await ServiceProcess.start({ databaseUrl, env: { DEMO: 'true' } });
    ({ identifier } = (await service.get('inboxes/1')).body as { identifier: string });
  });
  after(async () => {
    await killServices();
    removeFolders();
  });

  async function run(script: string): Promise<{ code: number; output: string }> {
    const here = script
      .replaceAll(/(?:http:\/\/)?(?:127\.0\.0\.1|localhost):3000/g, service.url)
      .replaceAll(/^TOKEN=….*$/gm, `TOKEN=${adminToken}`);
    const child = spawn('bash', ['-c', `${prelude}${here}`], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        NODE: process.execPath,
        LAUNCHER: join(root, 'bin/switchboard.js'),
        DATABASE_URL: databaseUrl,
        SECRET_KEY: 'a key that only the tests use, long enough',
        SWITCHBOARD_URL: service.url,
        SWITCHBOARD_TOKEN: adminToken,
        TOKEN: adminToken,
        IDENTIFIER: identifier,
      },
    });
    const [output, errors] = [text(child.stdout), text(child.stderr)];
    const [code] = (await once(child, 'close')) as [number];
    return { code, output: `${await output}${await errors}` };
  }

  for (const page of pages) {
    const blocks = blocksOf(page);
    const runnable = blocks.filter((block) => reasonFor(page, block) === undefined);
    if (runnable.length > 0)
      it(`do what ${page} says, one after the other`, async () => {
        const { code, output } = await run(`${definitions}\n${runnable.join('\n')}`);
        expect(code, output).to.equal(0);
        expect(output).to.not.match(/"error":|command not found|unbound variable/);
      });
    for (const [start, reason] of elsewhere[page] ?? [])
      it(`do not run here from ${page}, "${start.split('\n')[0]}": ${reason}`, () => {
        expect(blocks.some((block) => block.startsWith(start))).to.equal(true);
        const [file] = /test\/\S+\.ts/.exec(reason) ?? [];
        if (file !== undefined) expect(() => readFileSync(join(root, file))).to.not.throw();
      });
  }
});

/** What the commands take as there: a picture, a folder of Markdown, and a file of articles. */
function furnish(folder: string): void {
  writeFileSync(join(folder, 'photo.jpg'), Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex'));
  mkdirSync(join(folder, 'docs/help'), { recursive: true });
  writeFileSync(join(folder, 'docs/help/shipping.md'), '# Shipping\n\nWithin three days.\n');
  const article = { title: 'Warranty', content: 'Two years.', url: 'https://example.com/warranty' };
  writeFileSync(join(folder, 'articles.jsonl'), `${JSON.stringify(article)}\n`);
}
