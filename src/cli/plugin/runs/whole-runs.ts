import type { CallService } from '../../../lib/service-client.ts';
import type { Shape } from '../../../schemas.ts';
import type { ListedRun, RunSource } from './runs-of-plugin.ts';

/**
 * Returns the runs with their events whole: lists have neither the requests of hooks nor the messages of channels, which are
 * stored once.
 */
export async function readWholeRuns(
  call: CallService,
  { account, kind }: RunSource,
  runs: readonly ListedRun[],
): Promise<ListedRun[]> {
  const whole: ListedRun[] = [];
  for (const run of runs) {
    const isWhole = kind !== 'channel' && run.event.name !== 'hook_received';
    const path = `/api/v1/accounts/${account}/runs/${run.id}`;
    whole.push(isWhole ? run : { ...run, ...(await call<Shape<'resources/run'>>('GET', path)) });
  }
  return whole;
}

/** Whether the request or the message that the run handled is deleted. */
export function isIncomplete({ event: { name, body } }: ListedRun, { kind }: RunSource): boolean {
  if (name === 'hook_received') return !('text' in hookOf(body));
  return kind === 'channel' && name === 'message_created' && body['event'] !== 'send';
}

function hookOf(body: Record<string, unknown>): object {
  const { hook } = body;
  return typeof hook === 'object' && hook !== null ? hook : {};
}
