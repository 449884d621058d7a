import { useState } from 'preact/hooks';
import type { Body, Reply } from '../../../shared/call.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { MomentField } from '../../kit/filter-fields.tsx';
import { CheckField, Form } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Progress } from '../../kit/progress.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { setQuery } from '../../router.ts';
import { call } from '../../session.ts';

type Recovery = Reply<'GET webhooks/:id/recover/:recovery_id'>;
type Recoverable = NonNullable<Body<'POST webhooks/:id/recover'>['states']>[number];

const daySeconds = 86_400;

/** Asks since when, and sends again what was given up or cancelled. */
export function RecoverDialog({ webhookId, close }: { webhookId: number; close: () => void }) {
  const [since, setSince] = useState<number | null>(() => Math.floor(Date.now() / 1000) - daySeconds);
  const [until, setUntil] = useState<number | null>(null);
  const [states, setStates] = useState<readonly Recoverable[]>(['exhausted', 'cancelled']);
  const [withMissing, setWithMissing] = useState(false);
  const choose = (state: Recoverable, isWanted: boolean): void =>
    setStates(isWanted ? [...states, state] : states.filter((one) => one !== state));
  async function send(): Promise<void> {
    const body = {
      ...(since === null ? {} : { since }),
      ...(until === null ? {} : { until }),
      states: [...states],
      missing: withMissing,
    } as Body<'POST webhooks/:id/recover'>;
    const { id } = await call('POST webhooks/:id/recover', { id: webhookId, body });
    close();
    setQuery({ recovery: id });
  }
  return (
    <Dialog title="Recover" onClose={close}>
      <p>
        Resends deliveries that failed or were cancelled, in order per conversation. Live events do not wait for them.
      </p>
      <Form submit="Recover" send={send} isScratch>
        {(problemOf) => (
          <>
            <MomentField label="Created after" value={since} onChange={setSince} problem={problemOf('since')} />
            <MomentField
              label="Created before"
              hint="Leave empty for now."
              value={until}
              onChange={setUntil}
              problem={problemOf('until')}
            />
            <fieldset>
              <legend>States</legend>
              <CheckField
                label="exhausted"
                checked={states.includes('exhausted')}
                onChange={(isWanted) => choose('exhausted', isWanted)}
              />
              <CheckField
                label="cancelled"
                checked={states.includes('cancelled')}
                onChange={(isWanted) => choose('cancelled', isWanted)}
              />
              {problemOf('states') && <small class="problem">{problemOf('states')}</small>}
            </fieldset>
            <CheckField label="Include events from while it was off" checked={withMissing} onChange={setWithMissing} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

const lookMs = 1_000;

interface Props {
  webhookId: number;
  id: number;
  /** Called when it has ended. */
  moved: () => Promise<void>;
}

/** How far a recovery is; its number is in the address, so that it is found again. */
export function RecoveryProgress({ webhookId, id, moved }: Props) {
  const recovery = useLoad(
    async (signal) => {
      const found = await call('GET webhooks/:id/recover/:recovery_id', { id: webhookId, recovery_id: id, signal });
      if (isOver(found)) void moved();
      return found;
    },
    [webhookId, id],
  );
  useRepeat(recovery.value !== null && !isOver(recovery.value), recovery.reload, lookMs);
  return (
    <>
      <h2>Recovery {id}</h2>
      <Show of={recovery}>
        {(value) => (
          <div class="note">
            <Progress label={labelOf(value)} done={endedOf(value)} total={value.count} />
            <p>
              {value.delivered} delivered, {value.failing} failing, {value.pending} pending, {value.exhausted}{' '}
              exhausted, {value.cancelled} cancelled
              {value.missing > 0 && `; ${value.missing} from while it was off`}
            </p>
            {isOver(value) && (
              <button type="button" onClick={() => setQuery({ recovery: null })}>
                Close
              </button>
            )}
          </div>
        )}
      </Show>
    </>
  );
}

function labelOf({ state }: Recovery): string {
  if (state === 'preparing') return 'Preparing';
  if (state === 'stopped') return 'Stopped: the webhook was disabled';
  return state === 'done' ? 'Recovered' : 'Recovering';
}

function endedOf({ delivered, exhausted, cancelled }: Recovery): number {
  return delivered + exhausted + cancelled;
}

function isOver({ state }: Recovery): boolean {
  return state === 'done' || state === 'stopped';
}
