import { Action } from './kit/action.tsx';
import { useRepeat } from './kit/repeat.ts';
import { beginSession } from './session.ts';

const againMs = 5_000;

/** The page while it is not known who is signed in, and why. It asks again by itself. */
export function FailedPage({ message }: { message: string }) {
  useRepeat(true, beginSession, againMs);
  return (
    <main class="sign-in">
      <h1>Switchboard</h1>
      <p class="note error" role="alert">
        {message}
      </p>
      <Action kind="primary" act={beginSession}>
        Try again
      </Action>
    </main>
  );
}
