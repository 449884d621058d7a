import { useEffect, useState } from 'preact/hooks';
import type { Reply } from '../shared/call.ts';
import { sentenceOf } from '../shared/service-error.ts';
import { TokenForm } from '../shared/token-form.tsx';
import { call, signIn } from './session.ts';

/** The page for people who are not signed in. `message`: the refusal of their sign-in, or the end of their session. */
export function SignInPage({ message }: { message: string | null }) {
  const [methods, setMethods] = useState<Reply<'GET /sign_in/methods'> | null>(null);
  const [sent, setSent] = useState<string | null>(null);
  useEffect(() => {
    document.title = 'Sign in · Switchboard';
    // Without an answer, what every installation has is shown.
    call('GET /sign_in/methods').then(setMethods, () => undefined);
  }, []);
  return (
    <main class="sign-in">
      <h1>Sign in to Switchboard</h1>
      {message !== null && sent === null && (
        <p class="note error" role="alert">
          {message}
        </p>
      )}
      {sent !== null && (
        <p class="note" role="status">
          {sent}
        </p>
      )}
      {methods?.oidc === true && <ProviderButton tell={setSent} />}
      <PasswordForm sendsMail={methods?.email_link ?? false} tell={setSent} />
      <h2>Other ways</h2>
      <TokenForm signIn={(token) => signIn({ access_token: token })} />
      <p>
        No access? Ask an administrator for a sign-in link. On the server, <code>npx switchboard console-link</code>{' '}
        prints one.
      </p>
    </main>
  );
}

function ProviderButton({ tell }: { tell: (sentence: string | null) => void }) {
  const [isBusy, setBusy] = useState(false);
  async function leave(): Promise<void> {
    setBusy(true);
    try {
      const { url } = await call('POST /sign_in/oidc');
      location.assign(url);
    } catch (error) {
      tell(sentenceOf(error));
      setBusy(false);
    }
  }
  return (
    <p>
      <button type="button" class="primary" disabled={isBusy} onClick={() => void leave()}>
        Continue with single sign-on
      </button>
    </p>
  );
}

type Purpose = 'sign_in' | 'password';

function PasswordForm({ sendsMail, tell }: { sendsMail: boolean; tell: (sentence: string | null) => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [isBusy, setBusy] = useState(false);
  async function run(work: () => Promise<void>): Promise<void> {
    setBusy(true);
    await work();
    setBusy(false);
  }
  async function send(purpose: Purpose): Promise<void> {
    if (email.trim() === '') return tell('Enter your email address first.');
    try {
      await call('POST /sign_in/links', { body: { email: email.trim(), purpose } });
      tell(`If ${email.trim()} has an account here, a link is on its way. It works once, within 15 minutes.`);
    } catch (error) {
      tell(sentenceOf(error));
    }
  }
  async function submit(): Promise<void> {
    tell(null);
    await signIn({ email: email.trim(), password });
    setPassword('');
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void run(submit);
      }}
    >
      <label>
        Email
        <input
          type="email"
          name="email"
          autocomplete="username"
          required
          value={email}
          onInput={({ currentTarget }) => setEmail(currentTarget.value)}
        />
      </label>
      <label>
        Password
        <input
          type="password"
          name="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={({ currentTarget }) => setPassword(currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={isBusy}>
        Continue
      </button>
      {sendsMail && (
        <div class="actions">
          <button type="button" disabled={isBusy} onClick={() => void run(() => send('sign_in'))}>
            Email me a link
          </button>
          <button type="button" class="quiet" disabled={isBusy} onClick={() => void run(() => send('password'))}>
            Forgot password?
          </button>
        </div>
      )}
    </form>
  );
}
