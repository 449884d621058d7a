import { Show, useLoad } from '../../kit/load.tsx';
import { SavedChoice } from '../../kit/saved-choice.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import { loadBots } from '../bots/bot-list.ts';

/** Which bot answers in an inbox; a choice takes effect at once. */
export function InboxBot({ id }: { id: number }) {
  const loaded = useLoad(
    async (signal) => {
      const [bots, { agent_bot: present }] = await Promise.all([
        loadBots(signal),
        call('GET inboxes/:id/agent_bot', { id, signal }),
      ]);
      return { bots, present };
    },
    [id],
  );
  async function choose(value: string): Promise<void> {
    await call('POST inboxes/:id/set_agent_bot', { id, body: { agent_bot: value === '' ? null : Number(value) } });
    toast('Bot saved.');
    await loaded.reload();
  }
  return (
    <Show of={loaded}>
      {({ bots, present }) => (
        <SavedChoice
          label="Bot"
          hint="Agents can take over at any time."
          value={String(present?.id ?? '')}
          save={choose}
          options={[['', 'No bot'], ...bots.map((bot) => [String(bot.id), bot.name] as const)]}
        />
      )}
    </Show>
  );
}
