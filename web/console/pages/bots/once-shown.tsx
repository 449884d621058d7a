import type { Reply } from '../../../shared/call.ts';
import { Code } from '../../kit/code.tsx';

type Made = Pick<Reply<'POST agent_bots'>, 'access_token' | 'secret'>;

/** What was just made for a bot: no later answer of the service has it. */
export function OnceShown({ of: { access_token: token, secret } }: { of: Made }) {
  return (
    <>
      {token !== undefined && <Code label="Access token" text={token} />}
      {secret !== undefined && <Code label="Signing secret" text={secret} />}
      <p class="note">
        {token !== undefined && secret !== undefined ? 'They are' : 'It is'} shown only this once: keep{' '}
        {token !== undefined && secret !== undefined ? 'them' : 'it'} now, where others do not see it.
      </p>
    </>
  );
}
