import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Report } from '../../src/cli/chatwoot/report.ts';
import { TestApp } from './app.ts';
import { runCommand, type Ended } from './command.ts';
import { FakeChatwoot, smallAccount, type ForeignAccount } from './fake-chatwoot.ts';

const launcher = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));

/** `switchboard import chatwoot` beside a running service, from a fake of their server that each test furnishes anew. */
export class Importing {
  #app: TestApp | null = null;
  #fake: FakeChatwoot | null = null;
  #folder = '';

  /** Has mocha start the service before the tests of the file, and their server before each. */
  static use(account: () => ForeignAccount = smallAccount): Importing {
    const importing = new Importing();
    before(async function () {
      this.timeout(180_000);
      importing.#app = await TestApp.start();
      importing.#folder = mkdtempSync(join(tmpdir(), 'switchboard-import-'));
    });
    beforeEach(async () => {
      importing.#fake = await FakeChatwoot.start(account());
    });
    afterEach(() => importing.fake.close());
    after(async () => {
      await importing.app.stop();
      rmSync(importing.#folder, { recursive: true });
    });
    return importing;
  }

  get app(): TestApp {
    return this.#app!;
  }

  get fake(): FakeChatwoot {
    return this.#fake!;
  }

  /** A new account, and what calls an operation of it as its administrator. */
  async newAccount(name = 'Ours'): Promise<number> {
    const answer = await this.app.post('/platform/api/v1/accounts', { name });
    expect(answer.status).to.equal(201);
    const { id } = answer.body as { id: number };
    await this.app.post(`/platform/api/v1/accounts/${id}/account_users`, { user_id: 1, role: 'administrator' });
    return id;
  }

  /** Starts the command as a process of its own. */
  start(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
    const place = { env: { ...this.#env, ...env }, cwd: this.#folder };
    return spawn(process.execPath, [launcher, 'import', 'chatwoot', ...args], {
      ...place,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Runs the command with just these arguments. */
  call(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    return runCommand(['import', 'chatwoot', ...args], { env: { ...this.#env, ...env }, cwd: this.#folder });
  }

  get #env(): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      DATA_DIR: this.#folder,
      DATABASE_URL: this.app.databaseUrl,
      SECRET_KEY: 'a key that only the tests use, long enough',
      CHATWOOT_TOKEN: this.fake.token,
    };
  }

  /** The arguments for an import from the fake into an account, with short pauses. */
  into(account: number, ...more: string[]): string[] {
    return ['--url', this.fake.url, '--allow-private', '--into', String(account), '--retry-pause', '2', ...more];
  }

  /** Imports into an account; the report. */
  async run(account: number, ...more: string[]): Promise<Report & { code: number | null }> {
    const { code, output, errors } = await this.call(this.into(account, '--json', ...more));
    expect(errors, output).to.equal('');
    return { ...(JSON.parse(output) as Report), code };
  }

  /** Everything the account has that an import may have made, without ids, in an order of its own. */
  async copies(account: number): Promise<Record<string, unknown[]>> {
    const all = {
      contacts: `SELECT name, email, phone_number, identifier, ARRAY(SELECT l.title FROM contact_labels cl
        JOIN labels l ON l.id = cl.label_id WHERE cl.contact_id = c.id ORDER BY 1) AS labels
        FROM contacts c WHERE account_id = $1 ORDER BY id`,
      conversations: `SELECT status, (SELECT name FROM contacts x WHERE x.id = c.contact_id) AS contact
        FROM conversations c WHERE account_id = $1 ORDER BY created_at, id`,
      messages: `SELECT m.content FROM messages m WHERE account_id = $1
        ORDER BY (content_attributes #>> '{chatwoot,id}')::bigint, id`,
      seats: 'SELECT name FROM seats WHERE account_id = $1 AND id <> 1 ORDER BY name',
      inboxes: 'SELECT name FROM inboxes WHERE account_id = $1 ORDER BY id',
    };
    const found: Record<string, unknown[]> = {};
    for (const [name, statement] of Object.entries(all)) found[name] = await this.app.query(statement, [account]);
    return found;
  }

  /** Throws unless everything holds in the database, as `switchboard verify` says. */
  async verify(): Promise<void> {
    const { body } = await this.app.get('/platform/api/v1/ledger');
    expect(body.ok, JSON.stringify(body)).to.equal(true);
  }
}

/** Waits for the end of a command. */
export async function ended(child: ChildProcess): Promise<Ended> {
  const [output, errors] = [text(child.stdout!), text(child.stderr!)];
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, output: await output, errors: await errors };
}
