import type { CallService } from '../../lib/service-client.ts';
import type { Shape } from '../../schemas.ts';
import { accountPathOf, type AccountOptions } from '../deliveries/account-of.ts';
import { readList, serviceOf } from '../service.ts';
import { printAnswer, tableOf } from '../terminal/print.ts';

type Hook = Shape<'resources/hook'>;
type HookRequest = Shape<'resources/hook-request'>;

interface Shown extends Hook {
  /** The latest, newest first. */
  requests: HookRequest[];
}

const shownRequests = 5;

/** The command `plugin hooks`: the hooks of an account that a plugin handles, or of all plugins, with their latest requests. */
export async function listHooks(plugin: string | undefined, options: AccountOptions): Promise<void> {
  const call = serviceOf(options);
  const account = await accountPathOf(call, options);
  const { payload: all } = await readList<Hook>(call, `${account}/hooks`);
  const owners = plugin === undefined ? null : await ownersOf(call, account, plugin);
  const payload: Shown[] = [];
  for (const hook of all.filter((one) => owners === null || owners.has(ownerOf(one)))) {
    const path = `${account}/hooks/${hook.id}/requests`;
    const { payload: requests } = await call<{ payload: HookRequest[] }>('GET', path);
    payload.push({ ...hook, requests: requests.slice(0, shownRequests) });
  }
  printAnswer({ payload }, options, () => (payload.length === 0 ? [noneOf(plugin)] : payload.flatMap(linesOf)));
}

function noneOf(plugin: string | undefined): string {
  const whose = plugin === undefined ? 'The account' : `The plugin ${plugin}`;
  return `${whose} has no hooks. Create one with POST …/hooks, see docs/hooks.md.`;
}

function ownerOf({ agent_bot_id: bot, automation_id: automation }: Hook): string {
  return automation === null ? `bot ${bot}` : `automation ${automation}`;
}

async function ownersOf(call: CallService, account: string, plugin: string): Promise<Set<string>> {
  interface Owner {
    id: number;
    plugin_id?: string | null;
  }
  // Bots come in one list, without pages.
  const bots = await call<Owner[] | { payload: Owner[] }>('GET', `${account}/agent_bots`);
  const { payload: automations } = await readList<Owner>(call, `${account}/automations`);
  const named = (owners: readonly Owner[], kind: string) =>
    owners.filter((owner) => owner.plugin_id === plugin).map(({ id }) => `${kind} ${id}`);
  const listed = Array.isArray(bots) ? bots : bots.payload;
  return new Set([...named(listed, 'bot'), ...named(automations, 'automation')]);
}

function linesOf(hook: Shown): string[] {
  const { id, name, handler, url, requests } = hook;
  const head = `Hook ${id} "${name}": ${handler} of ${ownerOf(hook)}, ${url}`;
  if (requests.length === 0) return [head, '  No requests yet.'];
  const rows = requests.map((request) => [
    String(request.id),
    new Date(request.received_at * 1_000).toISOString(),
    request.reason === null ? request.outcome : `${request.outcome}: ${request.reason}`,
    request.state ?? '-',
    String(request.bytes),
    request.run_id === null ? '-' : `run ${request.run_id}`,
  ]);
  const table = tableOf(['REQUEST', 'RECEIVED', 'OUTCOME', 'STATE', 'BYTES', 'RUN'], rows);
  return [head, ...table.map((line) => `  ${line}`)];
}
