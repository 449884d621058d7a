import { Elapsed } from './elapsed.tsx';

/** That a task goes on whose steps nobody knows, since when, and that nobody need wait for it here. */
export function Working({ on: since, what }: { on: number | null; what: string }) {
  return (
    <div role="status">
      {since !== null && (
        <p>
          {what}: you may go to other pages of the console meanwhile. <progress aria-label={what} />{' '}
          <Elapsed since={since} />
        </p>
      )}
    </div>
  );
}
