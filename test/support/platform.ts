import { expect } from 'chai';
import type { Answer, TestApp } from './app.ts';

/** The root of a platform administrator's operations. */
export const platformBase = '/platform/api/v1';
/** The URL of the tests' bots, at which nothing listens. */
export const botUrl = 'https://127.0.0.1:9/bot';

/** Usual requests of a platform administrator. */
export class Platform {
  readonly #app: TestApp;
  #people = 0;

  constructor(app: TestApp) {
    this.#app = app;
  }

  /** Creates a record below the platform's root. */
  async create(path: string, body: object): Promise<Answer['body']> {
    const answer = await this.#app.post(`${platformBase}/${path}`, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  }

  newUser(fields: object = {}): Promise<Answer['body']> {
    this.#people += 1;
    return this.create('users', { name: 'Pat', email: `pat.${this.#people}@example.com`, ...fields });
  }

  join(accountId: number, userId: number, role = 'agent'): Promise<Answer> {
    return this.#app.post(`${platformBase}/accounts/${accountId}/account_users`, { user_id: userId, role });
  }

  leave(accountId: number, userId: number): Promise<Answer> {
    return this.#app.call('DELETE', `${platformBase}/accounts/${accountId}/account_users`, { user_id: userId });
  }

  /** Creates a conversation of a new contact; returns its id. */
  async converse(accountId: number, headers: Record<string, string>, inboxId: number): Promise<number> {
    const root = `/api/v1/accounts/${accountId}`;
    const { body: contact } = await this.#app.post(`${root}/contacts`, { name: 'Carl' }, headers);
    const draft = { inbox_id: inboxId, contact_id: contact.id };
    const { status, body } = await this.#app.post(`${root}/conversations`, draft, headers);
    expect(status).to.equal(201);
    return body.id;
  }
}
