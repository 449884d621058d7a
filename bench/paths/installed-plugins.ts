import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { hashOf } from '../../src/packages/archive/hash.ts';
import { readPackage } from '../../src/packages/read/read.ts';
import type { Bench } from '../bench.ts';
import { withClient } from '../support/database.ts';
import { ask } from '../support/plugins.ts';
import { call, serviceEnv, withService } from '../support/service.ts';
import { usageOf } from '../support/usage.ts';

const plugins = 1_000;
const restMs = 5_000;
const patienceMs = 120_000;
const asksAtOnce = 8;
const faq = fileURLToPath(new URL('../../bots/faq', import.meta.url));

/** Memory of the service with 1,000 plugins more than its own: at rest, and when a bot of each has answered. */
export const installedPlugins: Bench = {
  name: 'installed-plugins',
  needs: 'database',
  boundMs: 600_000,
  run: ({ databaseUrl }) =>
    withClient(databaseUrl, async (database) => {
      const env = serviceEnv(databaseUrl);
      // The first start creates the tables and their first rows.
      await withService(env, async () => undefined);
      const without = await memoryOf(env, database, () => 'faq');
      await install(database);
      const within = await memoryOf(env, database, (number) => `plugin-${number}`);
      const one = { name: 'with one', value: without.afterRuns };
      return [
        {
          path: `RSS with ${plugins} plugins`,
          unit: 'MB',
          ours: within.atRest,
          limit: { ...one, value: without.atRest },
        },
        {
          path: `RSS with ${plugins} plugins, when a bot of each has answered`,
          unit: 'MB',
          ours: within.afterRuns,
          limit: one,
        },
      ];
    }),
};

/** Stores as many plugins as an installation would, with the code of the sample bot under other names. */
async function install(database: Client): Promise<void> {
  const { manifest, manifestText, bundle } = await readPackage(faq);
  const raw = JSON.parse(manifestText) as object;
  const rows = Array.from({ length: plugins }, (_, number) => {
    const id = `plugin-${number + 1}`;
    const text = JSON.stringify({ ...raw, id });
    return { id, manifest: text, hash: hashOf(text, bundle.code) };
  });
  await database.query(
    `WITH given AS (SELECT * FROM jsonb_to_recordset($1) AS r(id text, manifest text, hash text)),
       stored AS (
         INSERT INTO plugin_bundles (hash, plugin_id, version, manifest, code) SELECT hash, id, $2, manifest, $3 FROM given
       )
     INSERT INTO plugins (id, source, created_at, updated_at) SELECT id, 'archive', now(), now() FROM given`,
    [JSON.stringify(rows), manifest.version, bundle.code],
  );
  await database.query(`UPDATE plugins p SET active_hash = b.hash FROM plugin_bundles b WHERE b.plugin_id = p.id`);
  await database.query('UPDATE plugin_registry SET revision = revision + 1');
}

/** Memory of the service after its plugins were listed, and after 1,000 bots, each with its own plugin, have answered. */
async function memoryOf(
  env: Record<string, string>,
  database: Client,
  pluginOf: (number: number) => string,
): Promise<{ atRest: number; afterRuns: number }> {
  const ids = Array.from({ length: plugins }, (_, index) => pluginOf(index + 1));
  const inboxes = await hireAll(database, ids);
  return withService(env, async ({ url, pid }) => {
    await call(url, 'GET', 'plugins');
    await sleep(restMs);
    const atRest = usageOf(pid).rssMb;
    const contact = await call<{ id: number }>(url, 'POST', 'contacts', { name: 'Load' });
    for (let at = 0; at < inboxes.length; at += asksAtOnce) {
      const some = inboxes.slice(at, at + asksAtOnce);
      await Promise.all(
        some.map(async (inbox) => {
          const body = { inbox_id: inbox, contact_id: contact.id };
          await ask(url, (await call<{ id: number }>(url, 'POST', 'conversations', body)).id);
        }),
      );
    }
    await answered(database, inboxes);
    await sleep(restMs);
    return { atRest, afterRuns: usageOf(pid).rssMb };
  });
}

/** Makes a bot with an inbox of each plugin; resolves with the inboxes. */
async function hireAll(database: Client, ids: readonly string[]): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(
    `WITH given AS (SELECT plugin, gen_random_uuid()::text AS name FROM unnest($1::text[]) AS plugin),
       bots AS (
         INSERT INTO agent_bots (account_id, name, kind, plugin_id, events, hears_own, hears_notes)
         SELECT 1, name, 'plugin', plugin, '{message_created}', false, false FROM given RETURNING id, name
       )
     INSERT INTO inboxes (account_id, name, channel_type, identifier, agent_bot_id)
     SELECT 1, name, 'Channel::Api', name, id FROM bots RETURNING id::int`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

async function answered(database: Client, inboxes: readonly number[]): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const { rows } = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM bot_runs r JOIN conversations c ON c.id = r.conversation_id
       WHERE c.inbox_id = ANY ($1) AND r.outcome = 'ok'`,
      [inboxes],
    );
    if ((rows[0]?.count ?? 0) >= inboxes.length) return;
    if (performance.now() > until) throw new Error(`Only ${rows[0]?.count} of ${inboxes.length} bots answered`);
    await sleep(200);
  }
}
