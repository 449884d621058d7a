import type { ChatMessage, ChatRequest, ModelServer, ToolCall } from './chat.ts';

/** Parameters that not every server or model takes, in the order in which they are looked for in a refusal. */
export const dispensable = ['max_tokens', 'temperature', 'tool_choice', 'response_format'] as const;
export type Dispensable = (typeof dispensable)[number];

/** Returns the body of a request for chat completions, without parameters that the model refuses. */
export function bodyOf({ model }: ModelServer, request: ChatRequest, without: ReadonlySet<Dispensable>): object {
  const { messages, temperature, max_tokens } = request;
  return {
    model,
    messages: messages.map(messageOf),
    stream: false,
    // Newer models know this bound by another name.
    ...(without.has('max_tokens') ? { max_completion_tokens: max_tokens } : { max_tokens }),
    ...(without.has('temperature') ? {} : { temperature }),
    ...toolsOf(request, without),
    ...(without.has('response_format') || !request.response_format ? {} : { response_format: request.response_format }),
  };
}

// Servers refuse an empty list of tools or calls, and a choice among none.
function toolsOf({ tools, tool_choice: choice }: ChatRequest, without: ReadonlySet<Dispensable>): object {
  if (tools.length === 0) return {};
  const chosen = typeof choice === 'string' ? choice : { type: 'function', function: choice };
  return {
    tools: tools.map(({ name, description = '', parameters }) => ({
      type: 'function',
      function: { name, description, parameters: { ...parameters } },
    })),
    ...(without.has('tool_choice') ? {} : { tool_choice: chosen }),
  };
}

function messageOf({ role, content = null, tool_calls: calls = [], tool_call_id: id }: ChatMessage): object {
  if (role === 'tool') return { role, tool_call_id: id, content: content ?? '' };
  if (calls.length === 0) return { role, content: content ?? '' };
  return { role, content: content === '' ? null : content, tool_calls: calls.map(callOf) };
}

function callOf({ id, name, arguments: given }: ToolCall): object {
  return { id, type: 'function', function: { name, arguments: textOf(given) } };
}

// Some servers parse the arguments of earlier calls, and fail where they are no JSON.
function textOf(given: ToolCall['arguments']): string {
  if (typeof given !== 'string') return JSON.stringify(given);
  try {
    JSON.parse(given);
    return given;
  } catch {
    return JSON.stringify({ invalid: given });
  }
}
