import { Json } from '../../kit/code.tsx';
import type { Run } from './run-table.tsx';

/** What a bot wanted done, as it asked for it. */
export interface Deed {
  type?: unknown;
  [field: string]: unknown;
}

/** What a run wanted done; it was done only if the run ended well. */
export function Deeds({ run: { actions, outcome } }: { run: Run }) {
  const wasDone = outcome === 'ok';
  return (
    <section>
      <h2>{wasDone ? 'What it did' : 'What it wanted done'}</h2>
      {actions.length === 0 && <p class="empty">Nothing: a bot acts with ctx.reply, ctx.handoff and the like.</p>}
      {!wasDone && actions.length > 0 && <p class="note">None of it was done: {outcome.replaceAll('_', ' ')}.</p>}
      <ol class="steps">
        {actions.map((action, index) => (
          <li key={index}>
            <DeedText deed={action as Deed} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** One of them: its name, its text, and everything else that it says. */
export function DeedText({ deed }: { deed: Deed }) {
  const { type, content, ...rest } = deed;
  return (
    <>
      <strong>{String(type)}</strong>
      {typeof content === 'string' && <p class="told">{content}</p>}
      {Object.keys(rest).length > 0 && (
        <details>
          <summary>Details</summary>
          <Json label={`Details of ${String(type)}`} value={rest} />
        </details>
      )}
    </>
  );
}
