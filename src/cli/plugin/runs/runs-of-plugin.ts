import type { Shape } from '../../../schemas.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { CallService } from '../../../lib/service-client.ts';
import { readList } from '../../service.ts';

/** A recorded run, with the account that it was in. */
export type ListedRun = Shape<'resources/run'> & { account_id: number };

/** Which runs a command is about. */
export interface RunSelection {
  /** Runs of this moment or later, in Unix seconds. */
  since?: number;
  outcome?: string;
  /** The only account whose runs are wanted; by default all accounts of the token's holder. */
  account?: number;
}

/** A bot that runs the plugin, in one account. */
export interface PluginBot {
  account: number;
  id: number;
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

/** The bots that run the plugin. Throws OperatorError when there is none. */
export async function findBots(call: CallService, plugin: string, selection: RunSelection): Promise<PluginBot[]> {
  const bots: PluginBot[] = [];
  for (const account of await accountsOf(call, selection)) {
    const { payload } = await readList<Shape<'resources/agent-bot'>>(call, `/api/v1/accounts/${account}/agent_bots`);
    bots.push(...payload.filter(({ plugin_id: id }) => id === plugin).map(({ id }) => ({ account, id })));
  }
  if (bots.length > 0) return bots;
  throw new OperatorError(`No bot of these accounts runs the plugin ${plugin}: npx switchboard plugin list`);
}

/** The runs of a bot, newest first, page by page. */
export async function* readRuns(
  call: CallService,
  { account, id }: PluginBot,
  { since, outcome }: RunSelection,
): AsyncGenerator<ListedRun[]> {
  const query = new URLSearchParams();
  if (since !== undefined) query.set('since', String(since));
  if (outcome !== undefined) query.set('outcome', outcome);
  for (let cursor: string | null = ''; cursor !== null;) {
    if (cursor !== '') query.set('cursor', cursor);
    const path: string = `/api/v1/accounts/${account}/agent_bots/${id}/runs?${query.toString()}`;
    const { payload, meta }: Shape<'resources/run-list'> = await call('GET', path);
    yield payload.map((run) => ({ ...run, account_id: account }));
    cursor = meta.next_cursor;
  }
}

/** The latest runs of the plugin's bots, newest first, at most `limit`. */
export async function readLatestRuns(
  call: CallService,
  plugin: string,
  { limit, ...selection }: RunSelection & { limit: number },
): Promise<ListedRun[]> {
  const runs: ListedRun[] = [];
  for (const bot of await findBots(call, plugin, selection)) {
    let left = limit;
    for await (const page of readRuns(call, bot, selection)) {
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
