import { expect } from 'chai';
import type { Answer, TestApp } from './app.ts';

/** A public inbox, called as by a web page: without an access token. */
export class Widget {
  readonly id: number;
  readonly identifier: string;
  readonly #app: TestApp;
  readonly #base: string;

  private constructor(app: TestApp, id: number, identifier: string) {
    this.id = id;
    this.identifier = identifier;
    this.#app = app;
    this.#base = `/public/api/v1/inboxes/${identifier}`;
  }

  static async create(app: TestApp, settings: object = {}, botId: number | null = null): Promise<Widget> {
    const { body } = await app.post('inboxes', { name: 'Shop', channel_type: 'Channel::WebWidget', ...settings });
    if (botId !== null) await app.post(`inboxes/${body.id}/set_agent_bot`, { agent_bot: botId });
    return new Widget(app, body.id, body.identifier);
  }

  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#app.call(method, `${this.#base}/${path}`, body, { api_access_token: '', ...headers });
  }

  open(profile: object = {}, headers?: Record<string, string>): Promise<Answer> {
    return this.call('POST', 'sessions', profile, headers);
  }

  /** Opens a session of a new contact; returns its token's header and the answer. */
  async enter(
    profile: object = {},
  ): Promise<{ headers: { 'x-contact-token': string }; contactId: number; body: Answer['body'] }> {
    const { status, body } = await this.open(profile);
    expect(status).to.equal(201);
    return { headers: { 'x-contact-token': body.contact_token }, contactId: body.contact.id, body };
  }

  say(content: string, headers: Record<string, string>): Promise<Answer> {
    return this.call('POST', 'messages', { content }, headers);
  }

  async messages(headers: Record<string, string>, query = ''): Promise<Answer['body'][]> {
    const { status, body } = await this.call('GET', `messages${query}`, undefined, headers);
    expect(status).to.equal(200);
    return body.payload;
  }
}
