import { useEffect, useRef, useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Form, TextField } from '../../kit/form.tsx';
import { Progress } from '../../kit/progress.tsx';
import { call } from '../../session.ts';

type Recovery = Reply<'GET agent_bots/:id/recover/:recovery_id'>;

const pauseMs = 1000;

/** Sends a bot's server again what was given up or cancelled, and shows how far that is. */
export function RecoverServer({ id, ended }: { id: number; ended: () => Promise<void> }) {
  const [hours, setHours] = useState('24');
  const [recovery, setRecovery] = useState<Recovery | null>(null);
  const isHere = useRef(true);
  useEffect(() => () => void (isHere.current = false), []);
  async function recover(): Promise<void> {
    const since = Math.floor(Date.now() / 1000 - Number(hours) * 3600);
    const begun = await call('POST agent_bots/:id/recover', { id, body: { since } });
    while (isHere.current) {
      const present = await call('GET agent_bots/:id/recover/:recovery_id', { id, recovery_id: begun.id });
      if (!isHere.current) return;
      setRecovery(present);
      if (present.state === 'done' || present.state === 'stopped') return ended();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return (
    <details>
      <summary>Recover failed deliveries</summary>
      <Form submit="Recover" send={recover} isScratch>
        {(problemOf) => (
          <TextField
            label="Hours to recover"
            type="number"
            value={hours}
            onChange={setHours}
            problem={problemOf('since')}
          />
        )}
      </Form>
      {recovery && <Standing recovery={recovery} />}
    </details>
  );
}

function Standing({ recovery }: { recovery: Recovery }) {
  const { count, delivered, exhausted, cancelled, state } = recovery;
  if (count === 0) return <p role="status">No failed deliveries in this period.</p>;
  if (state === 'done') {
    return (
      <p role="status">
        Recovered: {delivered} delivered, {exhausted + cancelled} failed.
      </p>
    );
  }
  if (state === 'stopped') return <p role="status">Stopped: the bot was disabled.</p>;
  return <Progress label="Recovering" done={delivered + exhausted + cancelled} total={count} />;
}
