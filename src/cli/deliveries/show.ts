import type { Shape } from '../../schemas.ts';
import { timeOf } from '../plugin/runs/runs-of-plugin.ts';
import { printAnswer } from '../terminal/print.ts';
import { serviceOf } from '../service.ts';
import { accountPathOf, type AccountOptions } from './account-of.ts';
import { endpointOf } from './list.ts';

type Detail = Shape<'resources/delivery-detail'>;
type Attempt = Detail extends { attempts: (infer One)[] } ? One : never;

/** The command `deliveries show`: a delivery with every attempt. */
export async function showDelivery(id: number, options: AccountOptions): Promise<void> {
  const call = serviceOf(options);
  const delivery = await call<Detail>('GET', `${await accountPathOf(call, options)}/deliveries/${id}`);
  printAnswer(delivery, options, linesOf);
}

function linesOf(delivery: Detail): string[] {
  const { id, event, state, trigger, webhook_message_id: message, next_attempt_at: next, attempts } = delivery;
  return [
    `Delivery ${id} of ${event} to ${endpointOf(delivery)}: ${state} (${trigger})`,
    `webhook-id ${message}, created ${timeOf(delivery.created_at)} UTC${next === null ? '' : `, next attempt ${timeOf(next)} UTC`}`,
    ...(attempts.length === 0 ? ['No attempt has ended yet.'] : attempts.flatMap(attemptLines)),
  ];
}

function attemptLines({ number, started_at: at, error, request, response, times }: Attempt): string[] {
  const outcome = error === null ? 'succeeded' : `failed: ${error.class} (${error.detail})`;
  const phases = Object.entries(times).flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${ms} ms`]));
  return [
    '',
    `Attempt ${number}, ${timeOf(at)} UTC, ${outcome}${phases.length === 0 ? '' : `; ${phases.join(', ')}`}`,
    ...Object.entries(request.headers).map(([name, value]) => `  > ${name}: ${value}`),
    `  > ${request.body}`,
    ...(response === null ? ['  < no answer'] : answerLines(response)),
  ];
}

function answerLines({
  status,
  headers,
  body,
}: {
  status: number;
  headers: Record<string, string>;
  body: string;
}): string[] {
  const told = Object.entries(headers).map(([name, value]) => `  < ${name}: ${value}`);
  return [`  < ${status}`, ...told, ...(body === '' ? [] : body.split('\n').map((line) => `  < ${line}`))];
}
