import { useMemo } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Task, useTask } from '../../kit/task.ts';
import { Working } from '../../kit/working.tsx';
import { call } from '../../session.ts';
import { DeedText } from './deeds.tsx';
import { compare } from './difference.ts';
import { Outcome } from './outcomes.tsx';
import type { Run } from './run-table.tsx';

type Replayed = Reply<'POST runs/:id/replay'>;

// A replay goes on while its page is left, and is shown when somebody comes back; the latest runs of them are kept.
const replays = new Map<number, Task<Replayed>>();
const mostKept = 20;

/** Repeats a run from its record, and shows what was otherwise. */
export function Replay({ run }: { run: Run }) {
  const task = useMemo(() => replayOf(run.id), [run.id]);
  const { since, progress: replayed, error } = useTask(task);
  const replay = (): Promise<void> =>
    task.start(async ({ told }) => told(await call('POST runs/:id/replay', { id: run.id })), {
      done: `Replay of run ${run.id} finished.`,
    });
  return (
    <section>
      <h2>Replay</h2>
      <p>Repeats the run with its recorded code, time, random numbers and responses. Nothing is called or changed.</p>
      <button type="button" disabled={since !== null} aria-busy={since !== null} onClick={() => void replay()}>
        Replay
      </button>
      <Working on={since} what="Replaying the run" />
      {error !== null && (
        <p class="note error" role="alert">
          {error}
        </p>
      )}
      <div role="status">{replayed && <Result run={run} replayed={replayed} />}</div>
    </section>
  );
}

function replayOf(run: number): Task<Replayed> {
  const task = replays.get(run) ?? new Task<Replayed>();
  replays.delete(run);
  replays.set(run, task);
  const [oldest] = replays.keys();
  if (replays.size > mostKept && oldest !== undefined) replays.delete(oldest);
  return task;
}

function Result({ run, replayed }: { run: Run; replayed: Replayed }) {
  if (replayed.identical) return <p class="note">Identical to the recorded run.</p>;
  const lines = compare(run.actions, replayed.actions);
  return (
    <>
      <p class="note error">Different from the recorded run.</p>
      {replayed.outcome !== run.outcome && (
        <p>
          Recorded: <Outcome name={run.outcome} /> Replayed: <Outcome name={replayed.outcome} />
        </p>
      )}
      <ol class="steps" aria-label="Differences from the recorded run">
        {lines.map(({ side, deed }, index) => (
          <li key={index} class={side}>
            <span class={`badge ${badges[side]}`}>{titles[side]}</span> <DeedText deed={deed} />
          </li>
        ))}
      </ol>
    </>
  );
}

const titles = { both: 'as recorded', recorded: 'recorded only', replayed: 'replayed only' };
const badges = { both: '', recorded: 'bad', replayed: 'good' };
