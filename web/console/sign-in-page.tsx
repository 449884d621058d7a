import { TokenForm } from '../shared/token-form.tsx';
import { signIn } from './session.ts';

/** The page for people who are not signed in. `message`: the refusal of their sign-in, or the end of their session. */
export function SignInPage({ message }: { message: string | null }) {
  return (
    <main class="sign-in">
      <h1>Sign in to Switchboard</h1>
      {message !== null && (
        <p class="note error" role="alert">
          {message}
        </p>
      )}
      <TokenForm signIn={(token) => signIn({ access_token: token })} />
      <p>
        No token? On the server, run <code>npx switchboard console-link</code> for a sign-in link, or{' '}
        <code>npx switchboard token</code> for a new access token.
      </p>
    </main>
  );
}
