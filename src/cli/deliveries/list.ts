import type { CallService } from '../../lib/service-client.ts';
import type { Shape } from '../../schemas.ts';
import { timeOf } from '../plugin/runs/runs-of-plugin.ts';
import { printAnswer, tableOf } from '../terminal/print.ts';
import { serviceOf } from '../service.ts';
import { accountPathOf, type AccountOptions } from './account-of.ts';

/** Which deliveries are listed; `since` in Unix seconds. */
export interface DeliverySelection extends AccountOptions {
  webhook?: number;
  bot?: number;
  state?: string;
  event?: string;
  conversation?: number;
  since?: number;
  limit: number;
}

type Delivery = Shape<'resources/delivery'>;

/** The command `deliveries list`: the latest deliveries, newest first. */
export async function listDeliveries(options: DeliverySelection): Promise<void> {
  const call = serviceOf(options);
  const payload = await readLatest(call, await accountPathOf(call, options), options);
  printAnswer({ payload }, options, () =>
    payload.length === 0
      ? ['There are no such deliveries.']
      : tableOf(
          ['DELIVERY', 'TIME (UTC)', 'TO', 'EVENT', 'CONVERSATION', 'STATE', 'WHY', 'TRIES', 'LAST'],
          payload.map(cellsOf),
        ),
  );
}

/** An endpoint as people name it. */
export function endpointOf({
  webhook_id: webhook,
  agent_bot_id: bot,
  automation_id: automation,
  endpoint_kind: kind,
}: Pick<Delivery, 'webhook_id' | 'agent_bot_id' | 'automation_id' | 'endpoint_kind'>): string {
  const id = webhook ?? bot ?? automation;
  const noun = kind === 'agent_bot' ? 'bot' : kind;
  return id === null ? noun : `${noun} ${id}`;
}

function cellsOf(delivery: Delivery): string[] {
  const { id, created_at: at, event, conversation_id: conversation, state, trigger, attempts } = delivery;
  const last = delivery.last_error ?? delivery.last_status;
  const told = [String(id), timeOf(at), endpointOf(delivery), event, String(conversation ?? '-'), state, trigger];
  return [...told, String(attempts), String(last ?? '-')];
}

async function readLatest(call: CallService, account: string, selection: DeliverySelection): Promise<Delivery[]> {
  const { webhook, bot, state, event, conversation, since, limit } = selection;
  const noun = webhook === undefined ? (bot === undefined ? '' : `agent_bots/${bot}/`) : `webhooks/${webhook}/`;
  const asked = { state, event, conversation_id: conversation, since };
  const query = new URLSearchParams(
    Object.entries(asked).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );
  const found: Delivery[] = [];
  for (let more = true; more && found.length < limit;) {
    const path: string = `${account}/${noun}deliveries?${query.toString()}`;
    const { payload, meta } = await call<Shape<'resources/delivery-list'>>('GET', path);
    found.push(...payload);
    more = meta.next_cursor !== null;
    if (meta.next_cursor !== null) query.set('cursor', meta.next_cursor);
  }
  return found.slice(0, limit);
}
