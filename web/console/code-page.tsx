import { useState } from 'preact/hooks';
import type { Body } from '../shared/call.ts';
import { signIn, startOver } from './session.ts';

/** The second step of a sign-in: the code of the person's authenticator app. */
export function CodePage({ message, proof }: { message: string | null; proof: Body<'POST /sign_in'> }) {
  const [code, setCode] = useState('');
  const [isBusy, setBusy] = useState(false);
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setBusy(true);
    await signIn({ ...proof, code: code.trim() });
    setBusy(false);
    setCode('');
  }
  return (
    <main class="sign-in">
      <h1>Enter your code</h1>
      {message !== null && (
        <p class="note error" role="alert">
          {message}
        </p>
      )}
      <p>Enter the 6-digit code from your authenticator app, or a recovery code.</p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Code
          <input
            name="code"
            autocomplete="one-time-code"
            required
            // The page asks for nothing else.
            autoFocus
            value={code}
            onInput={({ currentTarget }) => setCode(currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
          Verify
        </button>
        <button type="button" class="quiet" onClick={startOver}>
          Start over
        </button>
      </form>
    </main>
  );
}
