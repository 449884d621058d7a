import { useLoad } from '../../kit/load.tsx';
import { LabelMark } from '../../kit/label-mark.tsx';
import { call } from '../../session.ts';
import { StatusBadge, type Conversation } from './words.tsx';

const handoffs: Readonly<Record<NonNullable<Conversation['handoff_reason']>, string>> = {
  keyword: 'the customer asked for an agent',
  max_exchanges: 'the bot reached its reply limit',
  requested_by_model: 'the model asked for an agent',
  plugin: 'requested by the bot',
  model_failed: 'the model failed',
  no_answer: 'no answer found',
  budget: 'token budget used up',
  bot_unreachable: 'the bot did not respond or failed',
  loop: 'possible loop',
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
      <span>{meta.assignee ? `Assigned to ${meta.assignee.name}` : 'Unassigned'}</span>
      {meta.team && <span>Team {meta.team.name}</span>}
      {titles.map((title) => (
        <LabelMark key={title} title={title} color={colorOf(title)} />
      ))}
      {handoff !== null && <span>Handed off: {handoffs[handoff]}</span>}
    </div>
  );
}
