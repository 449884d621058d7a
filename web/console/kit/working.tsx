import { Elapsed } from './elapsed.tsx';

interface Props {
  /** Since when; null while it does not run. */
  on: number | null;
  what: string;
  /** How far it is, where that is known. */
  steps?: { done: number; of: number } | null;
}

/** That a task goes on, since when and how far it is, and that nobody need wait for it here. */
export function Working({ on: since, what, steps = null }: Props) {
  const place = steps ? `, ${steps.done} of ${steps.of}` : '';
  return (
    <div role="status">
      {since !== null && (
        <p>
          {what}
          {place}. You can leave this page while it runs.{' '}
          <progress aria-label={what} {...(steps ? { value: steps.done, max: steps.of } : {})} />{' '}
          <Elapsed since={since} />
        </p>
      )}
    </div>
  );
}
