import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { call } from '../../session.ts';
import { DeedText } from './deeds.tsx';
import { compare } from './difference.ts';
import { Outcome } from './outcomes.tsx';
import type { Run } from './run-table.tsx';

type Replayed = Reply<'POST runs/:id/replay'>;

/** Repeats a run from its record, and shows what was otherwise. */
export function Replay({ run }: { run: Run }) {
  const [replayed, setReplayed] = useState<Replayed | null>(null);
  return (
    <section>
      <h2>Replay</h2>
      <p>
        Repeats the run by the code that ran, with the clock, the random numbers and the answers of that time. Nothing
        is called, and nothing changed.
      </p>
      <Action
        act={async () => {
          setReplayed(null);
          setReplayed(await call('POST runs/:id/replay', { id: run.id }));
        }}
      >
        Replay
      </Action>
      <div role="status">{replayed && <Result run={run} replayed={replayed} />}</div>
    </section>
  );
}

function Result({ run, replayed }: { run: Run; replayed: Replayed }) {
  if (replayed.identical) return <p class="note">It ended exactly as it was recorded.</p>;
  const lines = compare(run.actions, replayed.actions);
  return (
    <>
      <p class="note error">It did not end as it was recorded.</p>
      {replayed.outcome !== run.outcome && (
        <p>
          Recorded: <Outcome name={run.outcome} /> Replayed: <Outcome name={replayed.outcome} />
        </p>
      )}
      <ol class="steps" aria-label="Difference to the recorded run">
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
