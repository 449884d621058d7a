import type { Run } from './run-table.tsx';

const kinds: Readonly<Record<string, string>> = { warn: 'wait', error: 'bad' };

/** Log lines of a run. */
export function RunLog({ lines }: { lines: Run['logs'] }) {
  return (
    <section>
      <h2>Log</h2>
      {lines.length === 0 && <p class="empty">No log lines. A bot logs with ctx.log.info('…').</p>}
      <ol class="steps">
        {lines.map(({ level, message, fields }, index) => (
          <li key={index}>
            <span class={`badge ${kinds[level] ?? ''}`}>{level}</span> {message}
            {fields && <code class="told">{JSON.stringify(fields)}</code>}
          </li>
        ))}
      </ol>
    </section>
  );
}
