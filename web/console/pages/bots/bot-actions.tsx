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

/** What an administrator can do with a bot of the account. */
export function BotActions({ bot, changed, told }: Props) {
  const { id, name } = bot;
  return (
    <div class="actions">
      {bot.quarantine && (
        <Action
          kind="primary"
          done={`${name} is called again.`}
          act={async () => changed(await call('POST agent_bots/:id/release', { id }))}
        >
          Release
        </Action>
      )}
      <Action
        question={`Programs that use the present access token of ${name} are refused from then on.`}
        done="The access token was reset."
        act={async () => told(await call('POST agent_bots/:id/reset_access_token', { id }))}
      >
        Reset the access token
      </Action>
      {bot.outgoing_url !== null && (
        <Action
          question="For 24 hours deliveries are signed with the new secret and with the present one."
          done="The signing secret was reset."
          act={async () => told(await call('POST agent_bots/:id/reset_secret', { id }))}
        >
          Reset the signing secret
        </Action>
      )}
      <Action
        kind="danger"
        question={`Deleting ${name} deletes its runs and what it stored too; people get its conversations.`}
        done={`${name} is deleted.`}
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
