import type { Reply } from '../../../shared/call.ts';
import { call } from '../../session.ts';

/** A bot, as the service answers it. */
export type Bot = Reply<'GET agent_bots/:id'>;
/** An automation, as the service answers it. */
export type Automation = Reply<'GET automations/:id'>;
/** A plugin that the account's bots can run. */
export type AccountPlugin = Reply<'GET plugins'>['payload'][number];

interface Page<Row> {
  payload: Row[];
  meta: { total_pages: number };
}

/** The rows of all pages of a list. */
export async function allPages<Row>(load: (page: number) => Promise<Page<Row>>): Promise<Row[]> {
  const { payload, meta } = await load(1);
  const others = Array.from({ length: Math.max(0, meta.total_pages - 1) }, (_, index) => load(index + 2));
  const rest = await Promise.all(others);
  return [...payload, ...rest.flatMap((page) => page.payload)];
}

/** Every bot that the account can use, system bots included. */
export function loadBots(signal?: AbortSignal): Promise<Bot[]> {
  return allPages((page) => call('GET agent_bots', { query: { page }, ...given(signal) }));
}

/** Every automation of the account. */
export function loadAutomations(signal?: AbortSignal): Promise<Automation[]> {
  return allPages((page) => call('GET automations', { query: { page }, ...given(signal) }));
}

/** Every plugin that the account's bots can run. */
export function loadPlugins(signal?: AbortSignal): Promise<AccountPlugin[]> {
  return allPages((page) => call('GET plugins', { query: { page }, ...given(signal) }));
}

function given(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}
