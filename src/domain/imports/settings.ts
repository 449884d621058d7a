import type { Transaction } from '../../events/transaction.ts';
import { createAttributeDefinition, type NewAttributeDefinition } from '../attribute-definitions.ts';
import { createCannedResponse, type NewCannedResponse } from '../canned-responses.ts';
import { pause } from '../endpoints/requested-deliveries.ts';
import { createInbox, type NewInbox } from '../inboxes/inboxes.ts';
import { createLabel, type NewLabel } from '../labels/catalogue.ts';
import { checkAgentRoom, insertAgent, type NewAgent } from '../people/agents.ts';
import { addFormerSeat, lockAccount, makeSeat } from '../people/seats.ts';
import { createTeam, type NewTeam } from '../people/teams.ts';
import { createWebhook, type NewWebhook } from '../webhooks.ts';
import { lockImported, noteImported, type ImportedKind } from './imports.ts';

/** Outcome of a record: created, found here under its name, or copied before. */
export type Outcome = 'created' | 'found' | 'unchanged';

/** A record's import and source id. */
export interface Origin {
  importId: number;
  foreignId: number;
}

/** Outcome of a copy, and its id here. */
export interface Copied {
  outcome: Outcome;
  localId: number;
}

/** Copies an inbox, once. Errors: 422 for invalid settings. */
export function importInbox(
  tx: Transaction,
  record: Origin,
  inbox: Omit<NewInbox, 'accountId' | 'agentBotId' | 'now'>,
): Promise<Copied> {
  return copy(tx, record, 'inbox', async () => {
    const { id } = await createInbox(tx.sql, { ...inbox, accountId: tx.account.id, agentBotId: null, now: tx.now });
    return { outcome: 'created', localId: id };
  });
}

/** Copies a label, once; a label with this title counts as its copy. Errors: 422 when the account has too many. */
export function importLabel(tx: Transaction, record: Origin, label: NewLabel): Promise<Copied> {
  return copy(tx, record, 'label', async () => {
    const found = await findId(tx, 'SELECT id FROM labels WHERE account_id = $1 AND title = $2', label.title);
    if (found !== null) return { outcome: 'found', localId: found };
    return { outcome: 'created', localId: (await createLabel(tx, label)).id };
  });
}

/** Copies a team, once; a team with this name counts as its copy. Errors: 422 when the account has too many. */
export function importTeam(tx: Transaction, record: Origin, team: NewTeam): Promise<Copied> {
  return copy(tx, record, 'team', async () => {
    const found = await findId(tx, 'SELECT id FROM teams WHERE account_id = $1 AND name = $2', team.name);
    if (found !== null) return { outcome: 'found', localId: found };
    return { outcome: 'created', localId: (await createTeam(tx, team)).id };
  });
}

/** Copies a custom attribute's definition, once; one with this key counts as its copy. Errors: 422 when there are too many. */
export function importAttributeDefinition(
  tx: Transaction,
  record: Origin,
  definition: NewAttributeDefinition,
): Promise<Copied> {
  return copy(tx, record, 'attribute_definition', async () => {
    const { attributeModel, attributeKey } = definition;
    const statement = `SELECT id FROM custom_attribute_definitions
      WHERE account_id = $1 AND attribute_key = $2 AND attribute_model = '${attributeModel}'`;
    const found = await findId(tx, statement, attributeKey);
    if (found !== null) return { outcome: 'found', localId: found };
    return { outcome: 'created', localId: (await createAttributeDefinition(tx, definition)).id };
  });
}

/** Copies a canned response, once; one with this short code is taken for it. Errors: 422 when the account has too many. */
export function importCannedResponse(tx: Transaction, record: Origin, response: NewCannedResponse): Promise<Copied> {
  return copy(tx, record, 'canned_response', async () => {
    const statement = 'SELECT id FROM canned_responses WHERE account_id = $1 AND short_code = $2';
    const found = await findId(tx, statement, response.shortCode);
    if (found !== null) return { outcome: 'found', localId: found };
    return { outcome: 'created', localId: (await createCannedResponse(tx, response)).id };
  });
}

/**
 * Copies a webhook, once, and pauses it: its receiver is still called by the source. `kind` names the kind of its source id.
 * Errors: 422 when the account has too many.
 */
export function importWebhook(
  tx: Transaction,
  record: Origin & { kind: 'webhook' | 'channel_webhook' },
  webhook: Omit<NewWebhook, 'active' | 'format'>,
): Promise<Copied> {
  return copy(tx, record, record.kind, async () => {
    const { id } = await createWebhook(tx, { ...webhook, active: true, format: 'chatwoot' });
    await pause(tx, { kind: 'webhook', id });
    return { outcome: 'created', localId: id };
  });
}

const agentStatement = `SELECT s.id FROM seats s JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id
  WHERE s.account_id = $1 AND lower(s.email) = lower($2) AND s.left_at IS NULL`;

/**
 * Copies an agent, once; an agent with this address counts as its copy. A new one has no invitation yet, so that an import
 * sends no mail: agents are invited by hand. Errors: 422 when the account has too many agents.
 */
export function importAgent(tx: Transaction, record: Origin, agent: NewAgent): Promise<Copied> {
  return copy(tx, record, 'agent', async () => {
    await lockAccount(tx);
    const found = await findId(tx, agentStatement, agent.email);
    if (found !== null) return { outcome: 'found', localId: found };
    await checkAgentRoom(tx);
    const seat = await makeSeat(tx, agent);
    if (seat === null) throw new Error('The account has a seat without an agent');
    await insertAgent(tx, seat, agent);
    return { outcome: 'created', localId: seat };
  });
}

/**
 * Copies an author who has left the source account, once: an empty seat that names the author of messages. An author who
 * returns there is copied as an agent beside it.
 */
export function importAuthor(
  tx: Transaction,
  record: Origin,
  author: { name: string; email: string },
): Promise<Copied> {
  return copy(tx, record, 'author', async () => ({ outcome: 'created', localId: await addFormerSeat(tx, author) }));
}

/** Copies a record that has no copy yet, and records it; to be called once for each record and transaction. */
export async function copy(
  tx: Transaction,
  { importId, foreignId }: Origin,
  kind: ImportedKind,
  make: () => Promise<Copied>,
): Promise<Copied> {
  const known = (await lockImported(tx, importId, { kind, foreignIds: [foreignId] })).get(foreignId);
  if (known) return { outcome: 'unchanged', localId: known.localId };
  const made = await make();
  await noteImported(tx, importId, kind, [{ foreignId, localId: made.localId }]);
  return made;
}

async function findId(tx: Transaction, statement: string, name: string): Promise<number | null> {
  const [row] = await tx.sql<{ id: number }>(statement, [tx.account.id, name]);
  return row?.id ?? null;
}
