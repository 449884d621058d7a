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
  java: { file: 'Verify.java', command: 'java', args: ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'] },
};

const signedAt = 1_763_812_800;
const inEnglish = { ...process.env, LC_ALL: 'C.UTF-8' };
/** A header that a stranger may send: too short, not base64, of another scheme, without one, not ASCII, empty. */
const malformed = 'v1,abc v1,abc% v1a,AAAA garbage v1,é v1,  , v1';

function checkedAt(program: string, now: number): string {
  const other = program.replace(/(now\b[^\n]* = )1763812800/, `$1${now}`);
  if (other === program && now !== signedAt) throw new Error('The program has no time');
  return other;
}

function replaced(program: string, text: string, other: string): string {
  if (!program.includes(text)) throw new Error(`The program has no ${text}`);
  return program.replace(text, () => other);
}

function snippet(language: string): string {
  const found = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1];
  if (found === undefined) throw new Error(`No program in ${language}`);
  return found;
}

function cell(name: string): string {
  return new RegExp(`^\\| ${name} \\| \`(.*)\` \\|$`, 'm').exec(page)?.[1] ?? '';
}

/** Changes of a program's headers that a stranger may send, one each. */
function malformedHeaders(signature: string): ((program: string) => string)[] {
  const signatures = [
    '',
    ' ',
    'v1',
    'v1,',
    ',',
    'v1,abc',
    'v1,abc%',
    'v1a,AAAA',
    'garbage',
    'v1,é',
    `v2${signature.slice(2)}`,
  ];
  const times = ['', 'abc', '-1763812800', '1e9', '17638128000000000000000'];
  const missing = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return [
    ...[...signatures, signature.slice(3)].map((text) => (program: string) => replaced(program, signature, text)),
    ...times.map((text) => (program: string) => program.replace(/(["'])1763812800\1/, `$1${text}$1`)),
    // The name that is read stays; the header that is sent has another one.
    ...missing.map((name) => (program: string) => {
      const at = program.lastIndexOf(name);
      return `${program.slice(0, at)}x${program.slice(at)}`;
    }),
  ];
}

describe('docs/webhooks.md', function () {
  this.timeout(120_000);
  const signature = cell('`webhook-signature`');
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
    describe(`its program in ${language}`, () => {
      before(function () {
        if (spawnSync(command, ['--version']).error && spawnSync(command, ['version']).error) {
          console.log(`    skipped: ${command} is not installed on this machine`);
          this.skip();
        }
      });

      const run = (text: string) => {
        writeFileSync(join(folder, file), text);
        return spawnSync(command, [...args, join(folder, file)], { encoding: 'utf8', env: inEnglish });
      };

      it('takes the vector behind malformed signatures, five minutes early and late', () => {
        const program = replaced(snippet(language), signature, `${malformed} ${signature}`);
        for (const now of [signedAt - 300, signedAt + 300]) {
          const { stdout, stderr } = run(checkedAt(program, now));
          expect([stdout, stderr], String(now)).to.deep.equal(['ok\n', '']);
        }
      });

      it('refuses each of 20 headers that are malformed or missing, without an error', function () {
        this.timeout(300_000);
        const program = snippet(language);
        for (const spoil of malformedHeaders(signature)) {
          const { status, stdout, stderr } = run(spoil(program));
          expect([status, stdout, stderr.replace('exit status 1\n', '')], spoil(program)).to.deep.equal([1, '', '']);
        }
      });

      it('refuses malformed signatures, another body and another time without an error', () => {
        const program = snippet(language);
        const spoilt = {
          'malformed signatures': replaced(program, signature, malformed),
          'another body': replaced(program, 'contact_created', 'contact_deleted'),
          'a time that is no number': program.replace(/(["'])1763812800\1/, '$1abc$1'),
          'too late': checkedAt(program, signedAt + 301),
          'too early': checkedAt(program, signedAt - 301),
        };
        for (const [name, text] of Object.entries(spoilt)) {
          const { status, stdout, stderr } = run(text);
          // Go's runner repeats the exit status of the program.
          expect([status, stdout, stderr.replace('exit status 1\n', '')], name).to.deep.equal([1, '', '']);
        }
      });
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
