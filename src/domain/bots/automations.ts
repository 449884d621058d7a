import { cancelBacklog } from '../../deliveries/copies/backlogs.ts';
import { personOf } from '../../deliveries/core/refusal.ts';
import { invalid, notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import { hearingOf } from '../../packages/manifest/heard-events.ts';
import type { Sql } from '../../postgres/sql.ts';
import { AgentBot } from '../../records/bots/agent-bot.ts';
import { botToRun, type BotToRun } from '../../records/bots/bot-to-run.ts';
import type { Shape } from '../../schemas.ts';
import {
  countRows,
  createRow,
  deleteRows,
  findRow,
  listPage,
  lockIfThere,
  save,
  update,
  type Page,
} from '../small-rows.ts';
import { withSecrets } from './bots.ts';
import { findHeardEvents, type HeardEvent } from './heard-events.ts';
import { findManifest, holdManifest } from './kind-rules.ts';
import { forgetFailures } from './quarantine.ts';
import { readSettings } from './settings.ts';

/** Automations of an account at most: each is asked about every event. */
const maxAutomations = 100;

/** Seals secrets. */
interface Services {
  secretBox: SecretBox;
}

const ofAccount = (accountId: number) => ({ accountId, kind: 'automation' }) as const;
const automationOf = (pluginId: string) => ({ pluginId, part: 'automation', path: '/plugin_id' }) as const;

/** Returns one page of the account's automations. */
export function listAutomations(sql: Sql, accountId: number, page: number): Promise<Page<AgentBot>> {
  return listPage(sql, AgentBot, ofAccount(accountId), { page, orderBy: { id: 'asc' } });
}

/** Returns an automation of the account. Errors: 404. */
export async function readAutomation(sql: Sql, accountId: number, id: number): Promise<AgentBot> {
  return (await findRow(sql, AgentBot, { ...ofAccount(accountId), id })) ?? missing();
}

/**
 * Creates an automation, which hears the events of its manifest from then on. Errors: 404 for an inbox that the account does
 * not have, 422 for a plugin that is not installed or makes no automations, for settings that it refuses, and for too many.
 */
export async function createAutomation(
  tx: Transaction,
  { secretBox }: Services,
  {
    name,
    plugin_id: pluginId,
    config = {},
    secrets,
    inbox_ids: inboxIds = null,
    active = true,
  }: Shape<'requests/automation.create'>,
): Promise<AgentBot> {
  const manifest = await holdManifest(tx, automationOf(pluginId));
  if (inboxIds) await checkInboxes(tx.sql, tx.account.id, inboxIds);
  if ((await countRows(tx.sql, AgentBot, ofAccount(tx.account.id))) >= maxAutomations)
    throw invalid('', 'limit', `An account can have at most ${maxAutomations} automations`);
  const settings = readSettings({ secretBox, manifest, config, secrets, stored: {} });
  const hearing = hearingOf(manifest);
  return createRow(tx.sql, AgentBot, {
    ...ofAccount(tx.account.id),
    ...hearing,
    name,
    pluginId,
    inboxIds: inboxIds && [...inboxIds],
    active,
    events: [...hearing.events],
    config: settings.config ?? {},
    secrets: withSecrets({}, settings.secrets),
    createdAt: tx.now,
    updatedAt: tx.now,
  });
}

/**
 * Changes an automation of the account. `active: true` also ends a quarantine; what happened while it was off is not made up
 * for. Errors: 404, also for an inbox; 422 for settings that the plugin refuses, and for another plugin.
 */
export async function updateAutomation(
  tx: Transaction,
  { secretBox }: Services,
  id: number,
  { name, config, secrets, inbox_ids: inboxIds, active, ...rest }: Shape<'requests/automation.update'>,
): Promise<AgentBot> {
  if (rest.plugin_id !== undefined)
    throw invalid('/plugin_id', 'fixed', 'The plugin of an automation cannot be changed: create another automation');
  const known = await readAutomation(tx.sql, tx.account.id, id);
  const manifest = config || secrets ? await holdManifest(tx, automationOf(known.pluginId ?? '')) : null;
  // After the plugin, as in changes of its version.
  const automation = (await lockIfThere(tx.sql, AgentBot, { ...ofAccount(tx.account.id), id })) ?? missing();
  if (inboxIds) await checkInboxes(tx.sql, tx.account.id, inboxIds);
  const { secrets: stored, config: present } = automation;
  const settings = manifest && readSettings({ secretBox, manifest, config, secrets, stored, present });
  const changes = { name, active, ...(inboxIds === undefined ? {} : { inboxIds }) };
  update(automation, { ...changes, ...(settings ? changedBy(automation, settings) : {}) }, tx.now);
  await save(tx.sql, automation);
  if (active !== true) return automation;
  await tx.sql(forgetFailures('$1'), [id]);
  return readAutomation(tx.sql, tx.account.id, id);
}

/** Deletes an automation of the account, with its runs; its pending deliveries are cancelled, its messages keep no author. Errors: 404. */
export async function deleteAutomation(tx: Transaction, id: number): Promise<void> {
  const where = { ...ofAccount(tx.account.id), id };
  if (!(await lockIfThere(tx.sql, AgentBot, where))) missing();
  await cancelBacklog(tx, { kind: 'automation', id }, 'endpoint_gone', personOf(tx.actor));
  await deleteRows(tx.sql, AgentBot, where);
}

/**
 * Returns the automation as it is to be tried, by default with its own settings and inboxes, and the latest events that it would
 * have heard. Errors: 404, also for an inbox; 422 for a plugin that cannot run, and for settings that it refuses.
 */
export async function readDryRun(
  sql: Sql,
  { secretBox }: Services,
  { accountId, id }: { accountId: number; id: number },
  { config, inbox_ids: inboxIds, limit = 100 }: Shape<'requests/automation.dry-run'>,
): Promise<{ bot: BotToRun; events: HeardEvent[] }> {
  const automation = await readAutomation(sql, accountId, id);
  const { secrets: stored, pluginId } = automation;
  const manifest = await findManifest(sql, automationOf(pluginId ?? ''));
  const settings = readSettings({ secretBox, manifest, config, secrets: undefined, stored });
  if (inboxIds) await checkInboxes(sql, accountId, inboxIds);
  const { events: names, hearsNotes, inboxIds: own = null } = automation;
  const hearing = { id, events: names, hearsNotes, inboxIds: inboxIds === undefined ? own : inboxIds && [...inboxIds] };
  const events = await findHeardEvents(sql, accountId, hearing, limit);
  return { bot: { ...botToRun(automation), ...(settings.config ? { config: settings.config } : {}) }, events };
}

// The running version has validated the settings.
function changedBy({ secrets }: AgentBot, { config, ...changed }: ReturnType<typeof readSettings>) {
  return { ...(config ? { config, configFits: true } : {}), secrets: withSecrets(secrets, changed.secrets) };
}

async function checkInboxes(sql: Sql, accountId: number, ids: readonly number[]): Promise<void> {
  const found = await sql('SELECT FROM inboxes WHERE account_id = $1 AND id = ANY ($2)', [accountId, ids]);
  if (found.length < new Set(ids).size) throw notFound('Inbox');
}

function missing(): never {
  throw notFound('Automation');
}
