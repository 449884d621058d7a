import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestApp } from '../support/app.ts';
import { writePackage } from '../support/packages.ts';

/** Bots by id: the body of their message_created handler, which gets `ctx`. */
export type Handlers = Readonly<Record<string, string>>;

/** What bots do that take their time: it runs in a test, to be measured, and as its source in the bots. */
export function think(rounds: number): number {
  let thought = 7;
  for (let round = 0; round < rounds; round += 1) thought = (thought * 31 + round) % 1_000_003;
  return thought;
}

/** How many rounds of thinking take this much processor time on this machine. */
export function roundsFor(ms: number): number {
  const sample = 2_000_000;
  think(sample);
  const since = process.threadCpuUsage();
  think(sample);
  const { user, system } = process.threadCpuUsage(since);
  return Math.round((sample * ms * 1000) / (user + system));
}

/** A plugin root for a service, with a package for each handler. */
export function pluginRootOf(
  handlers: Handlers,
  limits: object = {},
  actions: readonly string[] = ['reply', 'note', 'handoff'],
): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'switchboard-plugins-'));
  for (const [id, body] of Object.entries(handlers)) {
    writePackage(
      join(path, 'bots', id),
      { id, permissions: { conversation: actions }, limits },
      `export default { on: { async message_created(ctx) { ${body}\n } } };`,
    );
  }
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

/** Makes a bot of each plugin and an inbox that it serves, in account 1 unless told otherwise; answers the inboxes by the plugins' ids. */
export async function serveInboxes(app: TestApp, ids: readonly string[], accountId = 1): Promise<Map<string, number>> {
  const inboxes = new Map<string, number>();
  for (const id of ids) {
    const [inbox] = await app.query<{ id: number }>(
      `WITH bot AS (
         INSERT INTO agent_bots (account_id, name, kind, plugin_id, events, hears_own, hears_notes)
         VALUES ($2, $1, 'plugin', $1, '{message_created}', false, false) RETURNING id
       )
       INSERT INTO inboxes (account_id, name, channel_type, identifier, agent_bot_id)
       SELECT $2, $1, 'Channel::Api', $1, id FROM bot RETURNING id`,
      [id, accountId],
    );
    inboxes.set(id, inbox?.id ?? 0);
  }
  return inboxes;
}

/** Opens a conversation of a new contact in the inbox, in account 1 unless told otherwise. */
export async function openConversation(app: TestApp, inboxId: number | undefined, accountId = 1): Promise<number> {
  const root = `/api/v1/accounts/${accountId}`;
  const contact = await app.post(`${root}/contacts`, { name: 'Customer' });
  const { status, body } = await app.post(`${root}/conversations`, {
    inbox_id: inboxId,
    contact_id: contact.body.id,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id as number;
}

/** A conversation's messages, in order, and its events. */
export async function messagesOf(
  app: TestApp,
  conversationId: number,
): Promise<
  {
    message_type: string;
    content: string;
    private: boolean;
    sender_kind: string;
    content_attributes: Record<string, unknown>;
  }[]
> {
  return app.query(
    'SELECT message_type, content, private, sender_kind, content_attributes FROM messages WHERE conversation_id = $1 ORDER BY id',
    [conversationId],
  );
}

export async function eventsOf(app: TestApp, conversationId: number): Promise<string[]> {
  const rows = await app.query<{ name: string }>(
    'SELECT name FROM events WHERE conversation_id = $1 ORDER BY sequence',
    [conversationId],
  );
  return rows.map(({ name }) => name);
}
