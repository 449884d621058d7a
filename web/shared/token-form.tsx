import { useState } from 'preact/hooks';

/** The form that signs in with an access token. The token goes to the service, and stays nowhere in the browser. */
export function TokenForm({ signIn }: { signIn: (token: string) => Promise<void> }) {
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setBusy(true);
    await signIn(token.trim());
    setBusy(false);
  }
  return (
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
  );
}
