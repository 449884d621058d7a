import { useState } from 'preact/hooks';
import { signIn } from './session.ts';

/** The page for people who are not signed in. `message`: why they are not, if they tried or were. */
export function SignInPage({ message }: { message: string | null }) {
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setBusy(true);
    await signIn({ access_token: token.trim() });
    setBusy(false);
  }
  return (
    <main class="sign-in">
      <h1>Sign in to Switchboard</h1>
      {message !== null && (
        <p class="note error" role="alert">
          {message}
        </p>
      )}
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Access token
          <input
            type="password"
            name="access_token"
            autocomplete="current-password"
            required
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
          Sign in
        </button>
      </form>
      <p>
        No token at hand? On the machine of the service, <code>npx switchboard console-link</code> prints a link that
        signs in, and <code>npx switchboard token</code> another access token.
      </p>
    </main>
  );
}
