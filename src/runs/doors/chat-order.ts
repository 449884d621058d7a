import type { Shape } from '../../schemas.ts';

type Question = Shape<'runtime/chat'>;
type Message = Question['messages'][number];

/**
 * Why model servers would refuse a question that matches its schema, in a sentence; null when they would not. Most of them
 * demand that each call is answered directly behind the message that asks for it.
 */
export function findDisorder(question: Question): string | null {
  const open = new Set<string>();
  for (const [index, message] of question.messages.entries()) {
    const fault = findMisuse(message) ?? findUnanswered(message, open);
    if (fault !== null) return `\`messages[${index}]\`: ${fault}`;
    for (const { id } of message.tool_calls ?? []) open.add(id);
  }
  return open.size === 0 ? findLack(question) : unanswered(open);
}

/** Why what the question asks for is not there. */
function findLack({ tools = [], tool_choice: choice, response_format: format }: Question): string | null {
  if (typeof choice === 'object' && !tools.some(({ name }) => name === choice.name))
    return `\`tool_choice\` names ${choice.name}, which \`tools\` does not have`;
  return format?.type === 'json_schema' && !format.json_schema ? '`response_format.json_schema` is missing' : null;
}

/** Why the fields of a message do not fit its role. */
function findMisuse({ role, content = null, tool_calls: calls = [], tool_call_id: id }: Message): string | null {
  if (role !== 'assistant' && calls.length > 0) return 'only an assistant has `tool_calls`';
  if (role !== 'tool' && id !== undefined) return 'only the role `tool` has a `tool_call_id`';
  if (role === 'tool' && id === undefined) return '`tool_call_id` is missing';
  if (content === null && calls.length === 0) return '`content` is missing';
  return new Set(calls.map((call) => call.id)).size < calls.length ? '`tool_calls` has the same id twice' : null;
}

/** Why a message may not stand behind calls; takes the call that it answers out of `open`. */
function findUnanswered({ role, tool_call_id: id = '' }: Message, open: Set<string>): string | null {
  if (role !== 'tool') return open.size === 0 ? null : unanswered(open);
  return open.delete(id)
    ? null
    : 'its `tool_call_id` is of no call of the assistant directly before that waits for an answer';
}

function unanswered([id = '']: Iterable<string>): string {
  return `the call ${JSON.stringify(id)} of the assistant has no answer of role \`tool\` directly behind it`;
}
