import { Inbox, type WorkingDay } from '../../records/inbox.ts';
import { forbidden, invalid } from '../../errors.ts';
import type { Actor, Transaction, Transact } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { mayServeInbox } from '../conversations/access.ts';
import { eraseConversations } from '../conversations/deletion.ts';
import { findDayProblem, isTimezone } from '../conversations/deadlines/working-hours.ts';
import { deleteChannel } from '../bots/channels.ts';
import { createRow, deleteRows, findRows, lockOne, readOne, save, update } from '../small-rows.ts';

/** The inboxes that a user of the account may see, by name: administrators all, agents those they are members of. */
export async function listInboxes(sql: Sql, accountId: number, actor: Actor): Promise<Inbox[]> {
  const rows = await sql<{ id: number }>(
    `SELECT id FROM inboxes WHERE account_id = $1 AND ($3 OR id IN (
       SELECT inbox_id FROM inbox_members WHERE account_id = $1 AND user_id = $2))`,
    [accountId, actor.id, actor.role === 'administrator'],
  );
  return findRows(sql, Inbox, { accountId, id: rows.map(({ id }) => id) }, { orderBy: { name: 'asc', id: 'asc' } });
}

/** Returns an inbox of the account. Errors: 404, 403 for an agent who is not a member. */
export async function readInbox(sql: Sql, accountId: number, actor: Actor, id: number): Promise<Inbox> {
  const inbox = await readOne(sql, Inbox, { id, accountId });
  if (!(await mayServeInbox(sql, accountId, actor.id, id))) throw forbidden('You are not a member of this inbox');
  return inbox;
}

/** Settings of an inbox, for administrators. */
export interface InboxSettings {
  name: string;
  greetingEnabled: boolean;
  greetingMessage: string | null;
  enableAutoAssignment: boolean;
  timezone: string;
  workingHoursEnabled: boolean;
  workingHours: WorkingDay[];
  outOfOfficeMessage: string | null;
  csatSurveyEnabled: boolean;
  avatarUrl: string | null;
  allowedOrigins: string[];
}

export interface NewInbox {
  accountId: number;
  name: string;
  channelType: string;
  /** Its public identifier, which must not be guessable. */
  identifier: string;
  agentBotId: number | null;
  /** The channel that connects it, and its plugin; none by default. */
  channel?: { channelId: number; pluginId: string };
  now: Date;
  settings?: Partial<InboxSettings>;
}

function checkWeek(week: readonly WorkingDay[]): void {
  if (new Set(week.map((day) => day.day_of_week)).size !== week.length) {
    throw invalid('/working_hours', 'days', '`working_hours` must name every day of the week once');
  }
  for (const [index, day] of week.entries()) {
    const problem = findDayProblem(day);
    if (problem !== null) throw invalid(`/working_hours/${index}`, 'hours', problem);
  }
}

function checkSettings({ timezone, workingHours, allowedOrigins }: Partial<InboxSettings>): void {
  if (timezone !== undefined && !isTimezone(timezone)) {
    throw invalid(
      '/timezone',
      'timezone',
      '`timezone` must be a name of the IANA time zone database, such as Europe/Berlin',
    );
  }
  if (workingHours) checkWeek(workingHours);
  for (const [index, origin] of (allowedOrigins ?? []).entries()) {
    // Browsers send an origin without a path, a trailing slash or a default port.
    if (URL.parse(origin)?.origin === origin && /^https?:/.test(origin)) continue;
    throw invalid(
      `/allowed_origins/${index}`,
      'origin',
      'An origin must be like https://www.example.com: scheme and host, without a path',
    );
  }
}

/** Creates an inbox, with its bot if any. Errors: 422 for invalid settings. */
export async function createInbox(sql: Sql, { now, settings = {}, channel, ...rest }: NewInbox): Promise<Inbox> {
  checkSettings(settings);
  return createRow(sql, Inbox, { ...settings, ...rest, ...channel, createdAt: now, updatedAt: now });
}

function lockInbox(tx: Transaction, id: number): Promise<Inbox> {
  return lockOne(tx.sql, Inbox, { id, accountId: tx.account.id });
}

/** Changes the settings of an inbox. Errors: 404, 422 for invalid settings. */
export async function updateInbox(tx: Transaction, id: number, settings: Partial<InboxSettings>): Promise<Inbox> {
  checkSettings(settings);
  const inbox = await lockInbox(tx, id);
  if (update(inbox, settings, tx.now)) await save(tx.sql, inbox);
  return inbox;
}

// Conversations that one transaction deletes, so that none locks many for long.
const deletedAtOnce = 200;

async function deleteBatch(tx: Transaction, inboxId: number): Promise<void> {
  const some = `SELECT id FROM conversations WHERE account_id = $1 AND inbox_id = $2 LIMIT ${deletedAtOnce}`;
  await eraseConversations(tx, await tx.conversations({ ids: some, parameters: [inboxId] }));
}

async function removeWhenEmpty(tx: Transaction, id: number): Promise<boolean> {
  const { accountId, channelId } = await lockInbox(tx, id);
  const left = await tx.sql('SELECT FROM conversations WHERE account_id = $1 AND inbox_id = $2 LIMIT 1', [
    tx.account.id,
    id,
  ]);
  if (left.length > 0) return false;
  await deleteRows(tx.sql, Inbox, { id, accountId });
  if (channelId) await deleteChannel(tx, channelId);
  return true;
}

/**
 * Deletes an inbox with its conversations, in batches, one transaction each: after a crash, deleting it again continues.
 * Says conversation_deleted for each. Errors: 404.
 */
export async function deleteInbox(transact: Transact, id: number): Promise<void> {
  while (!(await transact((tx) => removeWhenEmpty(tx, id)))) await transact((tx) => deleteBatch(tx, id));
}
