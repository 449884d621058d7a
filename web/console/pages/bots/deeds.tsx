import { Json } from '../../kit/code.tsx';
import type { Run } from './run-table.tsx';

/** An action that a run returned. */
export interface Deed {
  type?: unknown;
  [field: string]: unknown;
}

/** Actions of a run. They are applied only if the run completes. */
export function Deeds({ run: { actions, outcome } }: { run: Run }) {
  const wasDone = outcome === 'ok';
  return (
    <section>
      <h2>Actions</h2>
      {actions.length === 0 && <p class="empty">No actions. A bot acts with ctx.reply, ctx.handoff and others.</p>}
      {!wasDone && actions.length > 0 && <p class="note">Not applied: {outcome.replaceAll('_', ' ')}.</p>}
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

/** Name, text and other fields of an action. */
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
