import { expect } from 'chai';
import { system, transact, type Transaction } from '../../src/events/transaction.ts';
import { verifying } from '../../src/records/conversations/presumed.ts';
import type { FoundWithBot } from '../../src/records/bots/bot-to-run.ts';
import { openConversation, pluginRootOf, serveInboxes } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { findOfEvent } from '../support/found.ts';

/** What may happen between the read and the lock, of the conversation `$1`. */
const changes: Readonly<Record<string, string>> = {
  'the conversation': `UPDATE conversations SET unread_count = unread_count + 1 WHERE id = $1`,
  'its contact': `UPDATE contacts SET name = 'Another' WHERE id = (SELECT contact_id FROM conversations WHERE id = $1)`,
  'its inbox': `UPDATE inboxes SET name = name || '!' WHERE id = (SELECT inbox_id FROM conversations WHERE id = $1)`,
  'its assignee': `UPDATE seats SET name = name || '!' WHERE id = (SELECT assignee_id FROM conversations WHERE id = $1)`,
  'its team': `UPDATE teams SET name = name || '!' WHERE id = (SELECT team_id FROM conversations WHERE id = $1)`,
  'its bot': `UPDATE agent_bots SET name = name || '!' WHERE id = (
    SELECT i.agent_bot_id FROM conversations c JOIN inboxes i ON i.id = c.inbox_id WHERE c.id = $1)`,
  'its account': `UPDATE accounts SET name = name || '!' WHERE id = (SELECT account_id FROM conversations WHERE id = $1)`,
  'that it is there': 'DELETE FROM conversations WHERE id = $1',
};

describe('a conversation that is presumed to be as it was read', () => {
  let app: TestApp;
  let root: { path: string; remove: () => void };
  let inboxId: number | undefined;
  let teamId: number;

  before(async () => {
    root = pluginRootOf({ thinker: '' });
    app = await TestApp.start({ engine: false, pluginRoot: root.path });
    inboxId = (await serveInboxes(app, ['thinker'])).get('thinker');
    [{ id: teamId } = { id: 0 }] = await app.query<{ id: number }>(
      `INSERT INTO teams (account_id, name) VALUES (1, 'Presumed') RETURNING id`,
    );
  });

  after(async () => {
    await app.stop();
    root.remove();
  });

  async function read(): Promise<FoundWithBot> {
    const id = await openConversation(app, inboxId);
    await app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'incoming' });
    await app.query('UPDATE conversations SET assignee_id = 1, team_id = $2 WHERE id = $1', [id, teamId]);
    const [event] = await app.query<{ id: number }>(
      `SELECT id FROM events WHERE conversation_id = $1 AND name = 'message_created'`,
      [id],
    );
    return (await findOfEvent(app, event!.id))!;
  }

  /** Whether it was found as presumed, and what the transaction held in the end. */
  async function hold(found: FoundWithBot) {
    const attempts: boolean[] = [];
    const bound = { toCome: 0, since: new Date(0), most: 0 };
    const work = async (tx: Transaction) => {
      attempts.push(tx.mayPresume);
      if (!tx.mayPresume) return tx.conversation(found.conversation.id);
      return tx.presumeConversation(found, verifying(1, found, bound));
    };
    const held = await transact(app.app.database, { account: { id: 1, name: 'Demo account' }, actor: system }, work);
    return { isPresumed: attempts.length === 1, held };
  }

  it('is held without being read when it is', async () => {
    const found = await read();
    const { isPresumed, held } = await hold(found);
    expect(isPresumed).to.equal(true);
    expect(held).to.deep.equal(found.conversation);
    expect(held).not.to.equal(found.conversation);
  });

  for (const [what, statement] of Object.entries(changes)) {
    it(`is read under its lock when ${what} has changed`, async () => {
      const found = await read();
      await app.query(statement, [found.conversation.id]);
      const { isPresumed, held } = await hold(found);
      expect(isPresumed).to.equal(false);
      if (held) expect(held).not.to.deep.equal(found.conversation);
    });
  }

  it('of another account is not held', async () => {
    const found = await read();
    const statement = verifying(2, found, { toCome: 0, since: new Date(0), most: 0 });
    const refusal = await app.query(statement.text, [...statement.parameters]).catch((error) => error);
    expect(refusal).to.be.an('error');
  });
});
