import { expect } from 'chai';
import type { TestApp } from './app.ts';

/** Customers of account 1, as tests of pages need them: they write through the API. */
export class Customers {
  readonly #app: TestApp;

  constructor(app: TestApp) {
    this.#app = app;
  }

  /** An inbox, served by the bot if one is named. */
  async inbox(name: string, botId: number | null = null): Promise<number> {
    const id = await this.#post('inboxes', { name, channel_type: 'Channel::Api' });
    if (botId !== null) await this.#app.post(`inboxes/${id}/set_agent_bot`, { agent_bot: botId });
    return id;
  }

  /** A new customer's conversation, with a first message. */
  async writes(inboxId: number, name: string, content: string, fields: object = {}): Promise<number> {
    const contactId = await this.#post('contacts', { name, ...fields });
    const id = await this.#post('conversations', { inbox_id: inboxId, contact_id: contactId });
    await this.says(id, content);
    return id;
  }

  /** A further message of the customer; returns its id. */
  says(conversationId: number, content: string): Promise<number> {
    return this.#post(`conversations/${conversationId}/messages`, { content, message_type: 'incoming' });
  }

  async #post(path: string, body: object): Promise<number> {
    const answer = await this.#app.post(path, body);
    expect(answer.status, path).to.be.within(200, 201);
    return answer.body.id;
  }
}
