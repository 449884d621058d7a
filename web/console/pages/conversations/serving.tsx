import type { Reply } from '../../../shared/call.ts';
import type { Serving } from '../../../shared/trace/trace.ts';
import { servingInWords } from '../../../shared/trace/words.ts';
import { Action } from '../../kit/action.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { SavedChoice } from '../../kit/saved-choice.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import type { Conversation } from './words.tsx';

type Bot = Reply<'GET agent_bots'>['payload'][number];

interface Props {
  conversation: Conversation;
  serving: Serving | null;
  changed: (conversation: Conversation) => void;
}

/** Bot that answers the next message, or the reason why none does, and the choice of another bot. */
export function ServingPanel({ conversation, serving, changed }: Props) {
  const { id } = conversation;
  return (
    <section class="panel" aria-labelledby="who-answers">
      <h2 id="who-answers">Bot</h2>
      <p role="status">{serving ? servingInWords(serving) : 'Loading…'}</p>
      {serving && isGivenUp(serving) && (
        <Action act={async () => changed(await giveBack(conversation))} done="Bot resumed.">
          {' '}
          Resume bot{' '}
        </Action>
      )}
      <Override id={id} serving={serving} changed={changed} />
    </section>
  );
}

const byPeople: readonly Serving['reason'][] = [
  'human_assigned',
  'human_replied',
  'human_opened',
  'handed_off',
  'loop_suspected',
  'bot_failed',
];

// People have it, whatever else holds for the bot.
function isGivenUp({ agent_bot: bot, answers, reason }: Serving): boolean {
  return bot !== null && !answers && byPeople.includes(reason);
}

// Unassigns in any case: the assignee may be shown here later than the reason.
async function giveBack({ id }: Conversation): Promise<Conversation> {
  await call('POST conversations/:id/assignments', { id, body: { assignee_id: null } });
  return call('POST conversations/:id/toggle_status', { id, body: { status: 'pending' } });
}

interface OverrideProps extends Omit<Props, 'conversation'> {
  id: number;
}

function Override({ id, serving, changed }: OverrideProps) {
  const bots = useLoad(readBots);
  const own = serving?.chosen_by === 'conversation' ? serving.agent_bot : null;
  async function choose(value: string): Promise<void> {
    const body = { agent_bot_id: value === '' ? null : Number(value) };
    await call('POST conversations/:id/agent_bot', { id, body });
    changed(await call('GET conversations/:id', { id }));
    toast(value === '' ? 'This conversation uses the bot of its inbox.' : 'Bot changed for this conversation.');
  }
  return (
    <Show of={bots}>
      {(value) => (
        <SavedChoice
          label="Bot for this conversation"
          value={String(own?.id ?? '')}
          save={choose}
          options={[['', 'Bot of the inbox'], ...optionsOf(value, own)]}
        />
      )}
    </Show>
  );
}

function optionsOf(bots: readonly Bot[], own: { id: number; name: string } | null): [string, string][] {
  const all = own && !bots.some(({ id }) => id === own.id) ? [own, ...bots] : bots;
  return all.map(({ id, name }) => [String(id), name]);
}

const mostPages = 20;

async function readBots(signal: AbortSignal): Promise<Bot[]> {
  const bots: Bot[] = [];
  for (let page = 1; page <= mostPages; page += 1) {
    const { payload, meta } = await call('GET agent_bots', { query: { page }, signal });
    bots.push(...payload);
    if (page >= meta.total_pages) break;
  }
  return bots;
}
