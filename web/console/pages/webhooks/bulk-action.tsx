import { useRef, useState } from 'preact/hooks';
import type { Body, Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Form } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Progress } from '../../kit/progress.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { setQuery } from '../../router.ts';
import { call } from '../../session.ts';
import { filterIn, type LogFilter } from './log-filters.tsx';

type BulkAction = Reply<'GET webhooks/:id/deliveries/bulk/:bulk_id'>;
type Kind = BulkAction['action'];

const words = {
  resend: {
    title: 'Resend deliveries',
    hint: 'Each event is resent once, in no particular order. To keep the order of each conversation, use Recover.',
    verb: 'Resend',
    running: 'Resending',
    done: 'Resent',
    result: 'resent',
    failed:
      'Failed: an attempt was running, the delivery was deleted, or a newer delivery of the same event was resent.',
  },
  cancel: {
    title: 'Cancel deliveries',
    hint: 'Only pending and failing deliveries can be cancelled. You can recover them later.',
    verb: 'Cancel',
    running: 'Cancelling',
    done: 'Cancelled',
    result: 'cancelled',
    failed: 'Failed: the delivery had ended.',
  },
} as const;

interface ButtonsProps {
  webhookId: number;
  query: URLSearchParams;
  /** Called when an action has begun: its first deliveries are done. */
  begun: () => void;
}

/** Buttons that resend or cancel the deliveries that the filters select. */
export function BulkButtons({ webhookId, query, begun }: ButtonsProps) {
  const [kind, setKind] = useState<Kind | null>(null);
  return (
    <div class="actions bulk">
      {(['resend', 'cancel'] as const).map((one) => (
        <button key={one} type="button" onClick={() => setKind(one)}>
          {words[one].title}
        </button>
      ))}
      {kind !== null && (
        <BulkDialog
          webhookId={webhookId}
          kind={kind}
          filter={filterIn(query)}
          close={() => setKind(null)}
          begun={begun}
        />
      )}
    </div>
  );
}

interface DialogProps {
  webhookId: number;
  kind: Kind;
  filter: LogFilter;
  close: () => void;
  begun: () => void;
}

/** Counts the deliveries before anything happens, and begins when the person agrees. */
function BulkDialog({ webhookId, kind, filter, close, begun }: DialogProps) {
  const counted = useLoad(
    (signal) => call('GET webhooks/:id/deliveries/count', { id: webhookId, query: filter.query, signal }),
    [webhookId],
  );
  const { title, hint, verb } = words[kind];
  async function begin(): Promise<void> {
    const body: Body<'POST webhooks/:id/deliveries/bulk'> = { action: kind, filter: filter.body };
    const { id } = await call('POST webhooks/:id/deliveries/bulk', { id: webhookId, body });
    close();
    setQuery({ bulk: id });
    begun();
  }
  return (
    <Dialog title={title} onClose={close}>
      <Show of={counted}>
        {({ count }) => (
          <>
            <p role="status">{matching(count, filter.isEmpty)}</p>
            {count > 0 && <p>{hint}</p>}
            {count > 0 && (
              <Form submit={`${verb} ${deliveries(count)}`} send={begin} isScratch>
                {() => null}
              </Form>
            )}
          </>
        )}
      </Show>
    </Dialog>
  );
}

function matching(count: number, isEverything: boolean): string {
  if (isEverything) return count === 0 ? 'No deliveries yet.' : `${deliveries(count)}. No filters are set.`;
  if (count === 0) return 'No deliveries match these filters.';
  return `${deliveries(count)} ${count === 1 ? 'matches' : 'match'} these filters.`;
}

function deliveries(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

const lookMs = 1_000;

interface ProgressProps {
  webhookId: number;
  id: number;
  /** Called when it has ended. */
  moved: () => Promise<void>;
}

/** Progress of a bulk action; its number is in the address, so that it is found again. */
export function BulkProgress({ webhookId, id, moved }: ProgressProps) {
  const box = useRef<HTMLDivElement>(null);
  const action = useLoad(
    async (signal) => {
      const found = await call('GET webhooks/:id/deliveries/bulk/:bulk_id', { id: webhookId, bulk_id: id, signal });
      if (found.state !== 'running') void moved();
      return found;
    },
    [webhookId, id],
  );
  useRepeat(action.value?.state === 'running', action.reload, lookMs);
  async function stop(): Promise<void> {
    action.set(await call('DELETE webhooks/:id/deliveries/bulk/:bulk_id', { id: webhookId, bulk_id: id }));
    // The button is gone: the next key is for the one in its place.
    setTimeout(() => box.current?.querySelector('button')?.focus());
    await moved();
  }
  return (
    <div class="note bulk" ref={box}>
      <Show of={action}>
        {(value) => (
          <>
            <Progress label={labelOf(value)} done={value.done + value.failed} total={value.count} />
            <p>
              {value.done} {words[value.action].result}, {value.failed} failed
            </p>
            {value.failed > 0 && <p>{words[value.action].failed}</p>}
            {value.state === 'running' && <Action act={stop}>Stop</Action>}
          </>
        )}
      </Show>
      {!action.isLoading && action.value?.state !== 'running' && (
        <button type="button" onClick={() => setQuery({ bulk: null })}>
          Close
        </button>
      )}
    </div>
  );
}

function labelOf({ action, state }: BulkAction): string {
  if (state === 'cancelled') return 'Stopped';
  return words[action][state];
}
