/** A server with the API of OpenAI, and the model there. The key is in clear; null for servers that ask for none. */
export interface ModelServer {
  /** Such as `https://api.openai.com/v1`. */
  baseUrl: string;
  model: string;
  apiKey: string | null;
  /** Whether the operator set it: then it may be at a private address. */
  isOperators: boolean;
}

/**
 * A message of a chat. The calls of an assistant's message are answered by a message of role `tool` for each, directly behind
 * it. `content` may be null beside calls only.
 */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content?: string | null;
  tool_calls?: readonly ToolCall[];
  tool_call_id?: string;
}

/** A function that a model may ask to call; `parameters` is a JSON Schema object. */
interface ChatTool {
  name: string;
  description?: string;
  parameters: Readonly<Record<string, unknown>>;
}

/** A request to a model. */
export interface ChatRequest {
  messages: readonly ChatMessage[];
  /** 0 to 1. */
  temperature: number;
  /** Tokens of the answer at most. */
  max_tokens: number;
  tools: readonly ChatTool[];
  /** `{ name }`: the model has to ask for a call of this tool. */
  tool_choice: 'auto' | 'none' | 'required' | { name: string };
  /** Absent: text. */
  response_format?: ResponseFormat;
}

/** The form of an answer, as in chat completions. Not every server keeps to it. */
interface ResponseFormat {
  type: 'text' | 'json_object' | 'json_schema';
  json_schema?: { name: string; description?: string; strict?: boolean; schema: Readonly<Record<string, unknown>> };
}

/** A call that a model asks for; `arguments` is the text that the model wrote where that is no JSON object. */
export interface ToolCall {
  /** Identifies the call among those of the chat. */
  id: string;
  name: string;
  arguments: Readonly<Record<string, unknown>> | string;
}

/** A model's answer. */
export interface ChatAnswer {
  content: string;
  tool_calls: readonly ToolCall[];
  /** Why the model ended, such as `stop`, `length`, `tool_calls`; `refusal` where `content` says why it does not answer. */
  finish_reason: string;
  model: string;
  usage: { prompt_tokens: number; completion_tokens: number };
}

/** Asks a model. Rejects with a ModelError. */
export type Chat = (server: ModelServer, request: ChatRequest, signal: AbortSignal) => Promise<ChatAnswer>;

/** Why there is no answer of a model: a code for programs, a sentence for operators, without the key. */
export class ModelError extends Error {
  override name = 'ModelError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
