import { isDeepStrictEqual } from 'node:util';
import { recordAct, recordActOfPerson, type Acting, type Changes } from '../../domain/audit/acts.ts';
import type { Audited, Fields } from './audited.ts';
import type { AnyCall } from './call.ts';

// Records of customers: of what was in them nothing may stay when they are erased.
const personal = new Set(['contact', 'conversation']);
const unspoken = new Set(['updated_at', 'last_activity_at']);
/** Characters of a value's JSON; longer ones are cut. */
const maxValueChars = 1000;
/** Stands for a value that no record shows, such as a secret. */
const hidden = '(not recorded)';

/** A record before and after an act; null where there was or is none. */
interface States {
  before: Fields | null;
  after: Fields | null;
}

/** The result of an operation, its answer with the id of what it has made, and whether it did anything. */
interface Outcome<Result> {
  result: Result;
  reply: unknown;
  isDone: boolean;
}

/** Performs an act and writes it into the audit log, in the transaction of `call`. Nothing is written where it fails. */
export async function performAudited<Result>(
  audited: Audited,
  call: AnyCall,
  perform: () => Promise<Outcome<Result>>,
): Promise<Result> {
  const { clause, target, read } = audited;
  const isMade = target.parameter === null && clause.target === undefined;
  const known = isMade ? null : idOf(audited, call, null);
  if (known !== null) await holdActs(call, `${target.type} ${known}`);
  const before = isMade ? null : await read(call, known);
  const { result, reply, isDone } = await perform();
  if (!isDone) return result;
  const id = idOf(audited, call, reply);
  const isGone = audited.action === `${target.type}.deleted`;
  const after = isGone ? null : await stateAfter(audited, call, { id, before, reply });
  const changes = changesOf(audited, call, { before, after });
  if (isUntold(audited, changes)) return result;
  await write(audited, call, { id, changes });
  return result;
}

function isUntold({ action, clause: { only } }: Audited, changes: Changes): boolean {
  if (only) return !only.some((field) => field in changes);
  return action.endsWith('.updated') && Object.keys(changes).length === 0;
}

async function write(
  { action: usual, clause, target }: Audited,
  call: AnyCall,
  { id, changes }: { id: number | string | null; changes: Changes },
): Promise<void> {
  const { sql, now, origin } = call;
  const action = Object.entries(clause.where ?? {}).find(([field]) => field in changes)?.[1] ?? usual;
  if (clause.ofPerson && 'principal' in call)
    return recordActOfPerson(sql, { userId: call.principal.id, action, changes, origin }, now);
  const on = id === null ? null : { type: target.type, id };
  const act = { actor: actingIn(call), action, target: on, changes, origin };
  await recordAct(sql, 'account' in call ? call.account.id : null, act, now);
}

function actingIn(call: AnyCall): Acting {
  if ('actor' in call) {
    const { kind, id, name } = call.actor;
    return { type: kind === 'user' || kind === 'agent_bot' ? kind : 'system', id, name };
  }
  if (!('principal' in call)) return { type: 'system', id: null, name: null };
  return { type: 'user', id: call.principal.id, name: call.principal.name };
}

function idOf({ target, clause }: Audited, { params, body }: AnyCall, reply: unknown): number | string | null {
  if (clause.target) return clause.target.from === undefined ? null : idIn(body, clause.target.from);
  return target.parameter === null ? idIn(reply, 'id') : (params[target.parameter] ?? null);
}

function idIn(from: unknown, field: string): number | string | null {
  if (typeof from !== 'object' || from === null) return null;
  const value = (from as Fields)[field];
  return typeof value === 'number' || typeof value === 'string' ? value : null;
}

// Acts on one record are told one after the other: else each could be told with what the other has changed.
async function holdActs({ sql }: AnyCall, record: string): Promise<void> {
  await sql('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`audit of ${record}`]);
}

/** The outcome of an act, beside the record as it was. */
interface Done {
  id: number | string | null;
  before: Fields | null;
  reply: unknown;
}

async function stateAfter(
  { clause, read }: Audited,
  call: AnyCall,
  { id, before, reply }: Done,
): Promise<Fields | null> {
  const { unread, members } = clause;
  if (unread) return Object.fromEntries(unread.map((field) => [field, (reply as Fields | null)?.[field]]));
  if (!members) return read(call, id);
  return { members: membersAfter(members, (before?.['members'] ?? []) as number[], idsIn(call.body)) };
}

// Members leave in later transactions: they are told by what was asked for.
function membersAfter(change: 'added' | 'replaced' | 'removed', before: readonly number[], ids: readonly number[]) {
  if (change === 'removed') return before.filter((id) => !ids.includes(id));
  return change === 'replaced' ? ids : [...new Set([...before, ...ids])];
}

function idsIn(body: unknown): readonly number[] {
  return (body as { user_ids: readonly number[] }).user_ids;
}

function changesOf({ target, told, others }: Audited, { body, params }: AnyCall, { before, after }: States): Changes {
  if (personal.has(target.type)) return {};
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const isChanged = (field: string): boolean =>
    fields.has(field) && !unspoken.has(field) && !isDeepStrictEqual(before?.[field] ?? null, after?.[field] ?? null);
  const changes = [...fields]
    .filter(isChanged)
    .map((field) => [field, [brief(before?.[field]), brief(after?.[field])]] as const);
  const sent = told === 'not at all' || typeof body !== 'object' || body === null ? [] : Object.entries(body);
  // Secrets are in no record, or masked: that they were sent is told.
  const unseen = sent.filter(([field, value]) => !isChanged(field) && !isDeepStrictEqual(value, after?.[field]));
  const said = unseen.map(([field, value]) => {
    const isOpen = told === 'as sent' && !fields.has(field);
    return [field, [null, isOpen ? brief(value) : hidden]] as const;
  });
  const within = others.map((name) => [name, [null, params[name]]] as const);
  return Object.fromEntries([...changes, ...said, ...within]);
}

function brief(value: unknown = null): unknown {
  const text = JSON.stringify(value);
  return text.length <= maxValueChars ? value : `${text.slice(0, maxValueChars)}…`;
}
