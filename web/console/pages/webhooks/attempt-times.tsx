import type { Reply } from '../../../shared/call.ts';

type Times = Reply<'GET deliveries/:id'>['attempts'][number]['times'];

interface Phase {
  name: string;
  ms: number;
}

/** How long each phase of an attempt took, as a bar and in figures. */
export function AttemptTimes({ times }: { times: Times }) {
  const { total } = times;
  if (total === null) return null;
  const phases = phasesOf(times);
  const scale = 100 / Math.max(total, 1);
  return (
    <>
      <svg class="times" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        {phases.map(({ name, ms }, index) => (
          <rect
            key={name}
            class={`phase-${places.indexOf(name)}`}
            x={startOf(phases, index) * scale}
            width={ms * scale}
            height="1"
          />
        ))}
      </svg>
      <ul class="phases" aria-label="Times">
        {phases.map(({ name, ms }) => (
          <li key={name}>
            <svg viewBox="0 0 1 1" aria-hidden="true">
              <rect class={`phase-${places.indexOf(name)}`} width="1" height="1" />
            </svg>
            {name} {ms} ms
          </li>
        ))}
        <li>
          <strong>total {total} ms</strong>
        </li>
      </ul>
    </>
  );
}

const places = ['DNS', 'connect', 'TLS', 'waiting', 'reading'];

// Time before the first byte that no other phase measured is waiting; time after it is reading.
function phasesOf({ dns, connect, tls, first_byte: first, total }: Times): Phase[] {
  const before = (dns ?? 0) + (connect ?? 0) + (tls ?? 0);
  const end = total ?? 0;
  const reached = first ?? end;
  const measured: readonly (readonly [string, number | null])[] = [
    ['DNS', dns],
    ['connect', connect],
    ['TLS', tls],
    ['waiting', Math.max(0, reached - before)],
    ['reading', first === null ? null : Math.max(0, end - first)],
  ];
  return measured.flatMap(([name, ms]) => (ms === null ? [] : [{ name, ms }]));
}

function startOf(phases: readonly Phase[], index: number): number {
  return phases.slice(0, index).reduce((sum, { ms }) => sum + ms, 0);
}
