import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { catalog, payloadSchema, type EventName } from '../../src/events/catalog.ts';
import { findProblems } from '../../src/schemas.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/webhooks.md', import.meta.url)), 'utf8');

/** How a program of each language is run, where the machine has what it needs. */
const runners: Record<string, { file: string; command: string; args?: string[] }> = {
  js: { file: 'verify.cjs', command: process.execPath },
  python: { file: 'verify.py', command: 'python3' },
  ruby: { file: 'verify.rb', command: 'ruby' },
  php: { file: 'verify.php', command: 'php' },
  go: { file: 'verify.go', command: 'go', args: ['run'] },
  java: { file: 'Verify.java', command: 'java' },
};

function snippet(language: string): string {
  const found = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1];
  if (found === undefined) throw new Error(`No program in ${language}`);
  return found;
}

function cell(name: string): string {
  return new RegExp(`^\\| ${name} \\| \`(.*)\` \\|$`, 'm').exec(page)?.[1] ?? '';
}

describe('docs/webhooks.md', function () {
  this.timeout(120_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-docs-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('tells a vector that is signed as the secret, the id, the time and the body say', () => {
    const [secret, body] = [cell('secret'), cell('body')];
    const [id, timestamp] = [cell('`webhook-id`'), cell('`webhook-timestamp`')];
    const at = new Date(Number(timestamp) * 1000);
    expect(new Webhook(secret).sign(id, at, body)).to.equal(cell('`webhook-signature`'));
  });

  for (const [language, { file, command, args = [] }] of Object.entries(runners)) {
    it(`has a program in ${language} that takes the vector, and refuses another body`, function () {
      if (spawnSync(command, ['--version']).error && spawnSync(command, ['version']).error) this.skip();
      const program = snippet(language);
      const run = (text: string) => {
        writeFileSync(join(folder, file), text);
        return spawnSync(command, [...args, join(folder, file)], { encoding: 'utf8' });
      };
      expect(run(program).stdout).to.equal('ok\n');
      const spoilt = program.replace('contact_created', 'contact_deleted');
      const { status, stdout } = run(spoilt);
      expect([status === 0, stdout]).to.deep.equal([false, '']);
    });
  }

  it('has a body of every event that webhooks may subscribe to, as its schema says', () => {
    const told = Array.from(
      page.matchAll(/^### (\w+_\w+)\n\n([^\n]+)\n\n```json\n(.*?)\n```$/gms),
      ([, name, , json]) => ({
        name: name as EventName,
        body: JSON.parse(json ?? '') as unknown,
      }),
    );
    const wanted = Object.entries(catalog).flatMap(([name, entry]) => ('account' in entry ? [name] : []));
    expect(told.map(({ name }) => name)).to.deep.equal(wanted);
    for (const { name, body } of told)
      expect(findProblems(payloadSchema(name, 'account'), body), name).to.deep.equal([]);
  });
});
