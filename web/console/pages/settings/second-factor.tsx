import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Code } from '../../kit/code.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { QrCode } from '../../kit/qr-code.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';

interface Props {
  value: Reply<'GET /api/v1/profile/security'>;
  changed: () => Promise<void>;
}

/** The second factor of the person: set up with an authenticator app, or removed by a code. */
export function SecondFactor({ value: { second_factor: isOn, recovery_codes_left: left }, changed }: Props) {
  const [begun, setBegun] = useState<Reply<'POST /api/v1/profile/security/second_factor'> | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  async function confirm(code: string): Promise<void> {
    const { recovery_codes: made } = await call('POST /api/v1/profile/security/second_factor/confirm', {
      body: { code },
    });
    setCodes(made);
    setBegun(null);
    await changed();
  }
  async function renew(code: string): Promise<void> {
    const { recovery_codes: made } = await call('POST /api/v1/profile/security/second_factor/recovery_codes', {
      body: { code },
    });
    setCodes(made);
    await changed();
  }
  async function remove(code: string): Promise<void> {
    await call('DELETE /api/v1/profile/security/second_factor', { body: { code } });
    setCodes(null);
    toast('Second factor removed.');
    await changed();
  }
  return (
    <section class="narrow" aria-labelledby="second-factor">
      <h2 id="second-factor">Second factor</h2>
      {codes && (
        <>
          <p class="note" role="status">
            Second factor is on. Each recovery code works once if you lose your app. They are shown only now: store
            them.
          </p>
          <Code label="Recovery codes" text={codes.join('\n')} />
        </>
      )}
      {isOn && (
        <>
          <p>On. A sign-in with a password or a link asks for a code. Recovery codes left: {left}.</p>
          <CodeForm submit="Remove second factor" send={remove} />
          <details>
            <summary>Renew the recovery codes</summary>
            <CodeForm submit="Renew recovery codes" send={renew} />
          </details>
        </>
      )}
      {!isOn && !begun && (
        <>
          <p>Off. Ask for a code from an authenticator app when you sign in with a password or a link.</p>
          <Action act={async () => setBegun(await call('POST /api/v1/profile/security/second_factor'))}>
            Set up second factor
          </Action>
        </>
      )}
      {!isOn && begun && (
        <>
          <p>
            Scan this picture with your authenticator app, or add the secret to it, or{' '}
            <a href={begun.otpauth_url}>open the app on this device</a>. Then enter its code.
          </p>
          <QrCode label="Secret as a QR code" text={begun.otpauth_url} />
          <Code label="Secret" text={begun.secret} />
          <CodeForm submit="Turn on" send={confirm} />
        </>
      )}
    </section>
  );
}

function CodeForm({ submit, send }: { submit: string; send: (code: string) => Promise<void> }) {
  const [code, setCode] = useState('');
  return (
    <Form submit={submit} send={() => send(code.trim())} isScratch>
      {(problemOf) => (
        <TextField
          label="Code"
          autocomplete="one-time-code"
          value={code}
          onChange={setCode}
          problem={problemOf('code')}
        />
      )}
    </Form>
  );
}
