import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { call } from './service.ts';

const pollMs = 2;

/** Writes a folder of plugins, bots unless `kind` says otherwise: bodies of their handlers for a message, by id. */
export async function writePlugins(
  folder: string,
  handlers: Readonly<Record<string, string>>,
  permissions: object,
  kind: 'bot' | 'automation' = 'bot',
): Promise<void> {
  for (const [id, body] of Object.entries(handlers)) {
    const path = join(folder, id);
    await mkdir(path, { recursive: true });
    const about = { id, name: id, version: '1.0.0', apiVersion: '1', kind };
    const manifest = { ...about, main: 'bot.js', events: ['message_created'] };
    await writeFile(join(path, 'plugin.json'), JSON.stringify({ ...manifest, permissions }));
    await writeFile(join(path, 'bot.js'), `export default { on: { async message_created(ctx) { ${body} } } };`);
  }
}

/** A bot of a plugin with an inbox of its own. */
export interface BenchBot {
  id: number;
  /** Opens a conversation of a new contact with the bot; resolves with its id. */
  open(): Promise<number>;
}

/** Makes a bot of the plugin, and an inbox that it serves. */
export async function hireBot(url: string, plugin: string): Promise<BenchBot> {
  const { id } = await call<{ id: number }>(url, 'POST', 'agent_bots', {
    name: plugin,
    kind: 'plugin',
    plugin_id: plugin,
  });
  const inbox = await call<{ id: number }>(url, 'POST', 'inboxes', { name: plugin, channel: { type: 'api' } });
  await call(url, 'POST', `inboxes/${inbox.id}/set_agent_bot`, { agent_bot: id });
  const contact = await call<{ id: number }>(url, 'POST', 'contacts', { name: 'Load' });
  const body = { inbox_id: inbox.id, contact_id: contact.id };
  return { id, open: async () => (await call<{ id: number }>(url, 'POST', 'conversations', body)).id };
}

/** The customer writes; nobody waits for the bot. */
export async function ask(url: string, conversation: number): Promise<void> {
  await call(url, 'POST', `conversations/${conversation}/messages`, { content: 'Hello?', message_type: 'incoming' });
}

/** Resolves with the milliseconds from the customer's request to the bot's committed reply. */
export async function timeReply(
  url: string,
  database: Client,
  { conversation, patienceMs }: { conversation: number; patienceMs: number },
): Promise<number> {
  const replies = async (): Promise<number> => {
    const { rows } = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM messages WHERE conversation_id = $1 AND sender_kind = 'agent_bot'`,
      [conversation],
    );
    return rows[0]?.count ?? 0;
  };
  const before = await replies();
  const begun = performance.now();
  await ask(url, conversation);
  while (performance.now() < begun + patienceMs) {
    if ((await replies()) > before) return performance.now() - begun;
    await sleep(pollMs);
  }
  const { rows } = await database.query<{ outcome: string; error: string | null; calls: unknown }>(
    'SELECT outcome, error, calls FROM bot_runs WHERE conversation_id = $1 ORDER BY id DESC LIMIT 1',
    [conversation],
  );
  throw new Error(`The bot did not reply: ${JSON.stringify(rows)}`);
}
