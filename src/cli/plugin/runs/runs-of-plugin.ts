import type { Shape } from '../../../schemas.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { CallService } from '../../../lib/service-client.ts';
import { readList } from '../../service.ts';

/** A recorded run, with the account that it was in, and the kind of plugin that ran. */
export type ListedRun = Shape<'resources/run'> & { account_id: number; kind: RunSource['kind'] };

/** Which runs a command is about. */
export interface RunSelection {
  /** Runs of this moment or later, in Unix seconds. */
  since?: number;
  outcome?: string;
  /** The only account whose runs are wanted; by default all accounts of the token's holder. */
  account?: number;
}

/** Where an account lists the runs of the plugin: of one bot or automation, or of one channel inbox. */
export interface RunSource {
  account: number;
  kind: 'bot' | 'automation' | 'channel';
  path: string;
}

/** The ids of the accounts that the token's holder belongs to, or the one that is wanted. */
export async function accountsOf(call: CallService, { account }: RunSelection): Promise<number[]> {
  if (account !== undefined) return [account];
  const { accounts } = await call<Shape<'resources/profile'>>('GET', '/api/v1/profile');
  if (accounts.length === 0) {
    throw new OperatorError('The holder of this token belongs to no account: give --token of an agent of one.');
  }
  return accounts.map(({ id }) => id);
}

/** The bots, automations and channel inboxes that run the plugin. Throws OperatorError when there is none. */
export async function findSources(call: CallService, plugin: string, selection: RunSelection): Promise<RunSource[]> {
  const sources: RunSource[] = [];
  for (const account of await accountsOf(call, selection)) sources.push(...(await sourcesIn(call, plugin, account)));
  if (sources.length > 0) return sources;
  throw new OperatorError(`Nothing in these accounts runs the plugin ${plugin}: npx switchboard plugin list`);
}

async function sourcesIn(call: CallService, plugin: string, account: number): Promise<RunSource[]> {
  const base = `/api/v1/accounts/${account}`;
  const bots = await readList<Shape<'resources/agent-bot'>>(call, `${base}/agent_bots`);
  const automations = await readList<Shape<'resources/automation'>>(call, `${base}/automations`);
  const inboxes = await readList<Shape<'resources/inbox'>>(call, `${base}/inboxes`);
  const own = ({ plugin_id: id }: { plugin_id?: string | null }) => id === plugin;
  return [
    ...bots.payload
      .filter(own)
      .map(({ id }) => ({ account, kind: 'bot' as const, path: `${base}/agent_bots/${id}/runs?` })),
    ...automations.payload
      .filter(own)
      .map(({ id }) => ({ account, kind: 'automation' as const, path: `${base}/runs?automation_id=${id}&` })),
    ...inboxes.payload
      .filter(own)
      .map(({ id }) => ({ account, kind: 'channel' as const, path: `${base}/runs?inbox_id=${id}&` })),
  ];
}

/** The runs of a source, newest first, page by page; pages may be empty. */
export async function* readRuns(
  call: CallService,
  { account, kind, path: list }: RunSource,
  { since, outcome }: RunSelection,
): AsyncGenerator<ListedRun[]> {
  const query = new URLSearchParams();
  if (since !== undefined) query.set('since', String(since));
  if (outcome !== undefined) query.set('outcome', outcome);
  for (let cursor: string | null = ''; cursor !== null;) {
    if (cursor !== '') query.set('cursor', cursor);
    const path: string = `${list}${query.toString()}`;
    const { payload, meta }: Shape<'resources/run-list'> = await call('GET', path);
    yield payload.map((run) => ({ ...run, account_id: account, kind }));
    cursor = meta.next_cursor;
  }
}

/** The latest runs of the plugin, newest first, at most `limit`. */
export async function readLatestRuns(
  call: CallService,
  plugin: string,
  { limit, ...selection }: RunSelection & { limit: number },
): Promise<ListedRun[]> {
  const runs: ListedRun[] = [];
  for (const source of await findSources(call, plugin, selection)) {
    let left = limit;
    for await (const page of readRuns(call, source, selection)) {
      runs.push(...page.slice(0, left));
      left -= page.length;
      if (left <= 0) break;
    }
  }
  return runs.sort(newestFirst).slice(0, limit);
}

function newestFirst(one: ListedRun, other: ListedRun): number {
  return other.created_at - one.created_at || other.id - one.id;
}

/** A moment in Unix seconds, for people: `2026-11-22 09:30:00`, in UTC. */
export function timeOf(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
}
