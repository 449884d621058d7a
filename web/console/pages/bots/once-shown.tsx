import type { Reply } from '../../../shared/call.ts';
import { Code } from '../../kit/code.tsx';

type Made = Pick<Reply<'POST agent_bots'>, 'access_token' | 'secret'>;

/** New secrets of a bot. The service returns them only once. */
export function OnceShown({ of: { access_token: token, secret } }: { of: Made }) {
  return (
    <>
      {token !== undefined && <Code label="Access token" text={token} />}
      {secret !== undefined && <Code label="Signing secret" text={secret} />}
      <p class="note">
        Shown only once. Store {token !== undefined && secret !== undefined ? 'both' : 'it'} in a safe place now.
      </p>
    </>
  );
}
