/** A server with the API of OpenAI, and the model there. The key is in clear; null for servers that ask for none. */
export interface ModelServer {
  /** Such as `https://api.openai.com/v1`. */
  baseUrl: string;
  model: string;
  apiKey: string | null;
  /** Whether the operator set it: then it may be at a private address. */
  isOperators: boolean;
}

/** A message of a chat. */
interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
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
  tool_choice: 'auto' | 'required';
}

/** A call that a model asks for; `arguments` is the text that it wrote, which should be JSON. */
export interface ToolCall {
  name: string;
  arguments: string;
}

/** A model's answer. */
export interface ChatAnswer {
  content: string;
  tool_calls: readonly ToolCall[];
  /** Why the model ended, such as `stop`, `length`, `tool_calls`. */
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
