import { useLoad } from '../../kit/load.tsx';
import { LabelMark } from '../../kit/label-mark.tsx';
import { call } from '../../session.ts';
import { StatusBadge, type Conversation } from './words.tsx';

const handoffs: Readonly<Record<NonNullable<Conversation['handoff_reason']>, string>> = {
  keyword: 'the customer asked for people',
  max_exchanges: 'it had answered as often as it may',
  requested_by_model: 'the model asked for people',
  plugin: 'the bot decided so',
  model_failed: 'the model failed',
  no_answer: 'it knew no answer',
  budget: 'it had used up its tokens',
  bot_unreachable: 'it could not be reached, or failed',
  loop: 'it seemed to talk in a loop',
};

/** How a conversation stands: its status, who has it, and its labels. */
export function State({ conversation }: { conversation: Conversation }) {
  const { meta, priority, labels: titles, handoff_reason: handoff } = conversation;
  const labels = useLoad((signal) => call('GET labels', { signal }));
  const colorOf = (title: string) => labels.value?.payload.find((label) => label.title === title)?.color;
  return (
    <div class="conversation-state marks" role="group" aria-label="State">
      <StatusBadge of={conversation} />
      {priority !== null && <span class="badge">{priority} priority</span>}
      <span>{meta.assignee ? `With ${meta.assignee.name}` : 'With nobody'}</span>
      {meta.team && <span>Team {meta.team.name}</span>}
      {titles.map((title) => (
        <LabelMark key={title} title={title} color={colorOf(title)} />
      ))}
      {handoff !== null && <span>Its bot gave it to people: {handoffs[handoff]}</span>}
    </div>
  );
}
