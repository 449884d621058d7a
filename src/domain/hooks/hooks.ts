import type { AgentBot } from '../../records/bots/agent-bot.ts';
import { partOfRow } from '../../records/bots/part.ts';
import { partOf } from '../../packages/manifest/parts.ts';
import { ApiError, invalid, notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { hashToken, lastFour } from '../../lib/secrets/tokens.ts';
import type { Sql } from '../../postgres/sql.ts';
import { Hook } from '../../records/hook.ts';
import { holdPlugin } from '../plugins/rows.ts';
import { checkRoom, createRow, deleteRows, listPage, lockOne, readOne, save, type Page } from '../small-rows.ts';

/** The bot, automation or channel that handles the requests of a hook. */
export interface HookOwner {
  kind: Hook['ownerKind'];
  id: number;
  /** The inbox of a channel. */
  inboxId?: number;
}

/** Returns the channel of an inbox as the owner of a hook. Errors: 404; 422 for an inbox without a channel. */
export async function ownerInInbox({ sql, account }: Transaction, inboxId: number): Promise<HookOwner> {
  const statement = 'SELECT channel_id FROM inboxes WHERE account_id = $1 AND id = $2 FOR SHARE';
  const [inbox] = await sql<{ channel_id: number | null }>(statement, [account.id, inboxId]);
  if (!inbox) throw notFound('Inbox');
  if (inbox.channel_id !== null) return { kind: 'channel', id: inbox.channel_id, inboxId };
  throw invalid('/inbox_id', 'channel', 'Only inboxes with a channel have hooks: this inbox has none');
}

export interface NewHook {
  name: string;
  owner: HookOwner;
  /** The name of a hook in the manifest of the owner's plugin. */
  handler: string;
  token: string;
}

const maxHooksPerAccount = 100;
const maxTokens = 10;
const nouns = { agent_bot: 'Agent bot', automation: 'Automation', channel: 'Inbox' } as const;
const kinds = { agent_bot: ['webhook', 'plugin'], automation: ['automation'], channel: ['channel'] } as const;

/** Returns one page of the account's hooks, oldest first. */
export function listHooks(sql: Sql, accountId: number, page: number): Promise<Page<Hook>> {
  return listPage(sql, Hook, { accountId }, { page, orderBy: { id: 'asc' } });
}

/** Returns a hook of the account. Errors: 404. */
export function readHook(sql: Sql, accountId: number, id: number): Promise<Hook> {
  return readOne(sql, Hook, { id, accountId });
}

/**
 * Creates a hook. Errors: 404 for the owner; 422 for a handler that its plugin does not have, or when the account has 100 hooks
 * already.
 */
export async function createHook(tx: Transaction, { name, owner, handler, token }: NewHook): Promise<Hook> {
  await checkHandler(tx, owner, handler);
  await checkRoom(tx, Hook, { most: maxHooksPerAccount, plural: 'hooks' });
  const hook = await createRow(tx.sql, Hook, {
    accountId: tx.account.id,
    agentBotId: owner.id,
    ownerKind: owner.kind,
    inboxId: owner.inboxId ?? null,
    name,
    handler,
    lastFour: lastFour(token),
    createdAt: tx.now,
    updatedAt: tx.now,
  });
  await addToken(tx, hook.id, token);
  return hook;
}

async function checkHandler(tx: Transaction, { kind, id }: HookOwner, handler: string): Promise<void> {
  const [owner] = await tx.sql<{ plugin_id: string | null; kind: AgentBot['kind'] }>(
    `SELECT plugin_id, kind FROM agent_bots WHERE account_id = $1 AND id = $2 AND kind = ANY ($3) FOR SHARE`,
    [tx.account.id, id, kinds[kind]],
  );
  if (!owner) throw notFound(nouns[kind]);
  const plugin = owner.plugin_id === null ? null : await holdPlugin(tx.sql, owner.plugin_id);
  const part = plugin?.active && partOf(plugin.active.manifest, partOfRow(owner.kind));
  const handlers = Object.keys(part?.hooks ?? {});
  if (handlers.includes(handler)) return;
  const known = handlers.length > 0 ? `it has ${handlers.map((one) => `\`${one}\``).join(', ')}` : 'it has none';
  throw invalid('/handler', 'unknown', `The plugin has no hook \`${handler}\`: ${known}`);
}

function addToken(tx: Transaction, hookId: number, token: string): Promise<unknown> {
  return tx.sql('INSERT INTO hook_tokens (token_hash, account_id, hook_id) VALUES ($1, $2, $3)', [
    hashToken(token),
    tx.account.id,
    hookId,
  ]);
}

/**
 * Gives a hook another URL; the ones before serve until `overlapSeconds` are over. Errors: 404, 409 when ten URLs serve
 * already.
 */
export async function rotateHook(
  tx: Transaction,
  id: number,
  { token, overlapSeconds }: { token: string; overlapSeconds: number },
): Promise<Hook> {
  const hook = await lockOne(tx.sql, Hook, { id, accountId: tx.account.id });
  const place = [tx.account.id, id];
  await tx.sql('DELETE FROM hook_tokens WHERE account_id = $1 AND hook_id = $2 AND expires_at <= $3', [
    ...place,
    tx.now,
  ]);
  const end = new Date(tx.now.getTime() + overlapSeconds * 1_000);
  await (overlapSeconds === 0
    ? tx.sql('DELETE FROM hook_tokens WHERE account_id = $1 AND hook_id = $2', place)
    : tx.sql(`UPDATE hook_tokens SET expires_at = least(expires_at, $3) WHERE account_id = $1 AND hook_id = $2`, [
        ...place,
        end,
      ]));
  const left = await tx.sql('SELECT FROM hook_tokens WHERE account_id = $1 AND hook_id = $2', place);
  if (left.length >= maxTokens)
    throw new ApiError(409, 'too_many_urls', `${maxTokens} URLs of the hook serve already. Rotate without an overlap.`);
  await addToken(tx, id, token);
  Object.assign(hook, { lastFour: lastFour(token), updatedAt: tx.now });
  await save(tx.sql, hook);
  return hook;
}

/** Deletes a hook with its requests; those that wait are not handled. Errors: 404. */
export async function deleteHook(tx: Transaction, id: number): Promise<void> {
  const { accountId } = await readHook(tx.sql, tx.account.id, id);
  await deleteRows(tx.sql, Hook, { id, accountId });
}
