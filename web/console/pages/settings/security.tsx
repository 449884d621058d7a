import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import { SecondFactor } from './second-factor.tsx';

type Security = Reply<'GET /api/v1/profile/security'>;

/** How the person signs in: password and second factor. */
export function SecurityPage() {
  const security = useLoad((signal) => call('GET /api/v1/profile/security', { signal }));
  return (
    <Page title="Security">
      <Show of={security}>
        {(value) => (
          <>
            <Password value={value} changed={security.reload} />
            <SecondFactor value={value} changed={security.reload} />
          </>
        )}
      </Show>
      <p>
        To see where you are signed in, open <a href="/console/settings/sign-ins">sign-ins</a>.
      </p>
    </Page>
  );
}

interface Props {
  value: Security;
  changed: () => Promise<void>;
}

function Password({ value: { password_changed_at: at, needs_current_password: asks }, changed }: Props) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const currentPassword = asks ? { current_password: current } : {};
  async function done(sentence: string): Promise<void> {
    toast(sentence);
    setCurrent('');
    setPassword('');
    await changed();
  }
  async function save(): Promise<void> {
    await call('POST /api/v1/profile/security/password', { body: { password, ...currentPassword } });
    await done('Password saved. You were signed out of all other browsers.');
  }
  async function remove(): Promise<void> {
    await call('DELETE /api/v1/profile/security/password', { body: currentPassword });
    await done('Password removed. You were signed out of all other browsers.');
  }
  return (
    <section class="narrow" aria-labelledby="password">
      <h2 id="password">Password</h2>
      <p>
        {at === null ? (
          'You have no password. Set one to sign in with your email address.'
        ) : (
          <>
            Last changed <Time at={at} />.
          </>
        )}
      </p>
      <Form submit={at === null ? 'Set password' : 'Change password'} send={save} isScratch>
        {(problemOf) => (
          <>
            {asks && (
              <TextField
                label="Current password"
                type="password"
                autocomplete="current-password"
                value={current}
                onChange={setCurrent}
                problem={problemOf('current_password')}
              />
            )}
            <TextField
              label="New password"
              hint="At least 10 characters."
              type="password"
              autocomplete="new-password"
              value={password}
              onChange={setPassword}
              problem={problemOf('password')}
            />
          </>
        )}
      </Form>
      {at !== null && (
        <details>
          <summary>Remove the password</summary>
          <p>
            You sign in with links or your access token then.
            {asks && ' Enter your current password above, then remove it.'}
          </p>
          <Form submit="Remove password" send={remove} isScratch>
            {() => null}
          </Form>
        </details>
      )}
    </section>
  );
}
