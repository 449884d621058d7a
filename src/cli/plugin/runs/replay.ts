import { isDeepStrictEqual } from 'node:util';
import { OperatorError } from '../../../lib/operator-error.ts';
import { ServiceRefusal, type CallService } from '../../../lib/service-client.ts';
import type { Shape } from '../../../schemas.ts';
import { printAnswer } from '../../terminal/print.ts';
import { serviceOf, type ServiceOptions } from '../../service.ts';
import { differenceOf } from './difference.ts';
import { accountsOf, type RunSelection } from './runs-of-plugin.ts';

type Run = Shape<'resources/run'>;
type Replay = Shape<'resources/run-replay'>;

/** The command `plugin replay`: repeats a run from its record; the exit code is 1 if it did not end as recorded. */
export async function replayRun(id: number, options: ServiceOptions & Pick<RunSelection, 'account'>): Promise<void> {
  const call = serviceOf(options);
  const { account, run } = await findRun(call, id, options);
  const replay = await call<Replay>('POST', `/api/v1/accounts/${account}/runs/${id}/replay`, {});
  if (!replay.identical) process.exitCode = 1;
  printAnswer(replay, options, () => tell(run, replay));
}

async function findRun(call: CallService, id: number, selection: RunSelection): Promise<{ account: number; run: Run }> {
  for (const account of await accountsOf(call, selection)) {
    try {
      return { account, run: await call<Run>('GET', `/api/v1/accounts/${account}/runs/${id}`) };
    } catch (error) {
      if (!(error instanceof ServiceRefusal) || error.status !== 404) throw error;
    }
  }
  throw new OperatorError(`There is no run ${id} in these accounts: npx switchboard plugin runs ID lists them.`);
}

function tell(run: Run, replay: Replay): string[] {
  const actions = `${replay.actions.length} ${replay.actions.length === 1 ? 'action' : 'actions'}`;
  if (replay.identical) return [`Run ${run.id} ended as recorded: ${replay.outcome}, with the same ${actions}.`];
  const difference = differenceOf(run, replay);
  const hidden = isDeepStrictEqual(difference, []) ? ['  The order of fields within the actions differs.'] : [];
  return [`Run ${run.id} did not end as recorded:`, ...difference.map((line) => `  ${line}`), ...hidden];
}
