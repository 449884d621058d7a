import { expect } from 'chai';
import { pino } from 'pino';
import { TestApp, type Answer } from './app.ts';
import { addAccount, addPerson, type User } from './people.ts';

interface LogLine {
  msg: string;
  to?: string;
  link?: string;
}

type Json = Record<string, unknown>;

/** A service with two accounts that invite people, whose mail is read from the log. */
export class Hiring {
  readonly app: TestApp;
  readonly elsewhere: { id: number; administrator: User };
  readonly #lines: LogLine[];
  #count = 0;

  private constructor(app: TestApp, elsewhere: Hiring['elsewhere'], lines: LogLine[]) {
    this.app = app;
    this.elsewhere = elsewhere;
    this.#lines = lines;
  }

  static async start(): Promise<Hiring> {
    const lines: LogLine[] = [];
    const log = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text) as LogLine) });
    const app = await TestApp.start({ engine: false, log });
    return new Hiring(app, await addAccount(app, 'Elsewhere'), lines);
  }

  /** Deletes invitations and mail, because the hourly limit has tests of its own. */
  async clear(): Promise<void> {
    await this.app.events();
    await this.app.query('DELETE FROM invitations');
    this.#lines.length = 0;
  }

  newEmail(): string {
    return `somebody.${(this.#count += 1)}@example.com`;
  }

  /** A person whom the other account knows under another name, with a picture and a token. */
  async addKnown(email = this.newEmail()): Promise<User> {
    const known = await addPerson(this.app, { name: `Known ${(this.#count += 1)}`, accountId: this.elsewhere.id });
    const face = 'https://example.com/face.png';
    await this.app.query('UPDATE users SET email = $2, avatar_url = $3 WHERE id = $1', [known.id, email, face]);
    return { ...known, email };
  }

  /** The log lines about mail to an address. */
  mailTo(email: string): LogLine[] {
    return this.#lines.filter(({ to }) => to === email);
  }

  /** The link of the latest invitation to an address. */
  linkOf(email: string): string {
    return this.mailTo(email).findLast(({ link }) => link)!.link!;
  }

  /** Creates an agent of account 1; returns its id. */
  async hire(email: string, name = 'Nick'): Promise<number> {
    const { status, body } = await this.app.post('agents', { name, email, role: 'agent' });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id;
  }

  /** Creates an agent of the other account; returns its id. */
  async hireElsewhere(email: string, name = 'Nora'): Promise<number> {
    const { id, administrator } = this.elsewhere;
    const agent = { name, email, role: 'agent' };
    const { status, body } = await this.app.post(`/api/v1/accounts/${id}/agents`, agent, administrator.headers);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id;
  }

  /** Accepts the latest invitation to an address. */
  accept(email: string): Promise<Answer> {
    return this.follow(this.linkOf(email));
  }

  async follow(link: string): Promise<Answer> {
    const response = await fetch(link, { method: 'POST' });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Seats and agents that do not match, and tokens without access. */
  findLoose(): Promise<object[]> {
    return this.app.query(
      `SELECT s.account_id, s.id, g.id AS agent, s.left_at FROM seats s
       LEFT JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id WHERE (g.id IS NULL) <> (s.left_at IS NOT NULL)
       UNION ALL SELECT NULL, u.id, NULL, NULL FROM users u JOIN access_tokens k ON k.user_id = u.id
       WHERE NOT u.platform_admin AND NOT EXISTS (SELECT FROM seats WHERE person_id = u.id AND left_at IS NULL)`,
    );
  }

  /** All stored rows of the other account, and of persons and their tokens. */
  async storedElsewhere(): Promise<Json> {
    const tables = await this.app.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'account_id'`,
    );
    const stored: Json = {};
    const read = (name: string, where: string) =>
      this.app.query(`SELECT row_to_json(t)::text AS row FROM "${name}" t ${where} ORDER BY 1`);
    for (const { name } of tables) stored[name] = await read(name, `WHERE account_id = ${this.elsewhere.id}`);
    for (const name of ['users', 'access_tokens']) stored[name] = await read(name, '');
    return stored;
  }
}
