import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { go } from '../../router.ts';
import { call } from '../../session.ts';
import type { Bot } from './bot-list.ts';

interface Props {
  bot: Bot;
  changed: (bot: Bot) => void;
  /** Gets what was made for the bot, which is shown once. */
  told: (secrets: Reply<'POST agent_bots/:id/reset_access_token'>) => void;
}

/** Actions of administrators on a bot of the account. */
export function BotActions({ bot, changed, told }: Props) {
  const { id, name } = bot;
  return (
    <div class="actions">
      {bot.quarantine && (
        <Action
          kind="primary"
          done={`${name} released.`}
          act={async () => changed(await call('POST agent_bots/:id/release', { id }))}
        >
          Release
        </Action>
      )}
      <Action
        question={`Programs that use the current access token of ${name} lose access.`}
        done="Access token reset."
        act={async () => told(await call('POST agent_bots/:id/reset_access_token', { id }))}
      >
        {' '}
        Reset access token{' '}
      </Action>
      {bot.outgoing_url !== null && (
        <Action
          question="For 24 hours, deliveries are signed with both the new and the old secret."
          done="Signing secret rotated."
          act={async () => told(await call('POST agent_bots/:id/reset_secret', { id }))}
        >
          {' '}
          Rotate signing secret{' '}
        </Action>
      )}
      <Action
        kind="danger"
        question={`The runs and stored data of ${name} are deleted too. Its conversations are handed off to agents.`}
        done={`Bot “${name}” deleted.`}
        act={async () => {
          await call('DELETE agent_bots/:id', { id });
          go('/console/bots');
        }}
      >
        Delete
      </Action>
    </div>
  );
}
