// The types of `switchboard/testing`. They import nothing, so that the types of a bot's tests need no other file of the
// service.

/** JSON as an object. */
export type JsonObject = Record<string, unknown>;

/** Answer of a host, as `ctx.fetch` gets it. */
export interface ScriptedReply {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  /** A text, or a value that becomes JSON. */
  body?: unknown;
}

/** A request that a bot may send with `ctx.fetch`, and its answer. No request ever leaves the machine. */
export interface ScriptedFetch {
  /** The whole address, or a pattern that it matches. */
  url: string | RegExp;
  /** Only requests with this method; default: any. */
  method?: string;
  /** The answer, or a function that makes it from the request. A function may throw: the request fails with the `code` of the error, `connect` by default. */
  reply: ScriptedReply | ((request: SentRequest) => ScriptedReply | Promise<ScriptedReply>);
}

/** A request that the bot sent; secrets are filled in, as the host would have got them. */
export interface SentRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
}

/** A passage that `ctx.kb.search` finds. */
export interface ScriptedPassage {
  title: string;
  text: string;
  url?: string | null;
  heading?: string | null;
  language?: string;
  id?: number;
  score?: number;
  /** Whether the passage answers the question; default: whether it shares a word with the question. */
  answers?: boolean;
}

/** An answer of the model to `ctx.llm.chat`; a text stands for one that has it as its `content`. */
export interface ScriptedAnswer {
  content?: string;
  /** Arguments as a value, or as the text that the model wrote. An id is made where there is none. */
  tool_calls?: readonly { id?: string; name: string; arguments: unknown }[];
  finish_reason?: string;
  model?: string;
  usage?: { prompt_tokens: number; completion_tokens: number };
}

/** Initial state of a simulation. */
export interface SimulateOptions {
  /** The part that `simulate` plays, of a package of several kinds; by default its bot, else its automation. */
  kind?: 'bot' | 'automation';
  /** The account's settings of the bot; settings that are left out have their defaults. */
  config?: JsonObject;
  /** The values of `permissions.secrets` and of settings marked `x-secret`. */
  secrets?: Record<string, string>;
  /** The customer. */
  contact?: {
    name?: string;
    email?: string | null;
    phone_number?: string | null;
    identifier?: string | null;
    custom_attributes?: JsonObject;
    visitor_attributes?: JsonObject;
  };
  /** Start time; default: Monday, 5 January 2026, 10:00 UTC. Time passes only by `advance`. */
  now?: Date | string;
  /** Requests of `ctx.fetch` that are answered, with their answers; any other fails the test. */
  fetch?: readonly ScriptedFetch[];
  /**
   * The answers of `ctx.llm.chat` in order, or a function that makes them from its input; without it there is no model. A
   * function may throw: the call fails with the `code` of the error, `connect` by default.
   */
  llm?: readonly (string | ScriptedAnswer)[] | ((input: JsonObject) => unknown);
  /** Content of the knowledge base. */
  kb?: readonly ScriptedPassage[];
  /** The seed of `Math.random` in the bot; default 1. */
  seed?: number;
}

/** Current state of the conversation. */
export interface ConversationState {
  readonly status: 'open' | 'resolved' | 'pending' | 'snoozed';
  readonly priority: 'urgent' | 'high' | 'medium' | 'low' | null;
  readonly labels: readonly string[];
  readonly team: { readonly id: number; readonly name: string } | null;
  readonly assignee: { readonly id: number; readonly name: string } | null;
  readonly custom_attributes: Readonly<JsonObject>;
  readonly snoozed_until: Date | null;
  readonly sla_policy_id: number | null;
  /** The bot that serves it; null for none. */
  readonly bot: { readonly id: number; readonly name: string } | null;
  /** Whether the contact is blocked. */
  readonly muted: boolean;
  /** Reason why the bot may not speak; null when it may. */
  readonly silence: string | null;
}

/** A call of a handler of the bot or the automation. */
export interface SimulatedRun {
  readonly event: string;
  /** `ok`, `superseded`, `threw` …, as in docs/plugins.md. */
  readonly outcome: string;
  readonly error: string | null;
  readonly actions: readonly JsonObject[];
  /** Calls to the service, with the answers. */
  readonly calls: readonly {
    readonly name: string;
    readonly input: unknown;
    readonly output?: unknown;
    readonly error?: { readonly code: string; readonly message: string };
  }[];
  readonly logs: readonly { readonly level: string; readonly message: string; readonly fields?: JsonObject }[];
}

/** An agent of the account. */
export interface SimulatedHuman {
  /** Assigns the agent to the conversation: the bot is silent from now on. */
  takesOver(): Promise<void>;
  /** Answers the customer. */
  says(text: string): Promise<void>;
  /** Resolves the conversation. */
  resolves(): Promise<void>;
  /** Gives the conversation back: nobody is assigned, and its status is `pending`. */
  givesBack(): Promise<void>;
}

/** A request that another system sends to a hook of a channel, its signature checked. */
export interface SimulatedRequest {
  /** The hook; by default the first of the manifest. */
  name?: string;
  /** The body as JSON, or as a form; a text otherwise. */
  json?: unknown;
  form?: Record<string, string>;
  text?: string;
  headers?: Record<string, string>;
}

/** A message that a channel is to send. */
export interface SimulatedMessage {
  content: string;
  /** The customer in the other system; default `customer-1`. */
  source_id?: string;
  content_type?: 'text' | 'input_select' | 'input_email' | 'cards';
  content_attributes?: JsonObject;
}

/** A channel that runs in the service's sandbox, without a network. */
export interface SimulatedChannel {
  /** The other system sends a request; resolves with what the channel brings in. Fails when the channel fails. */
  receives(request: SimulatedRequest): Promise<readonly JsonObject[]>;
  /**
   * Somebody writes to a customer; resolves with `{ type: 'sent', external_id }`, or with `refused` or `later` and the `reason`. Fails when
   * the channel throws another error.
   */
  sends(message: SimulatedMessage): Promise<JsonObject>;
  /** Returns the requests that `ctx.fetch` sent. */
  requests(): readonly SentRequest[];
}

/**
 * A conversation with a bot, or before an automation, that runs in the service's sandbox, by the same rules, without a network and
 * on a clock of its own.
 */
export interface Simulation {
  /** The customer writes; resolves when the bot has done everything that follows. */
  customer(text: string): Promise<void>;
  /** The customer takes a choice of the latest message that offers any, an item or a postback, by its title or value. */
  chooses(choice: string): Promise<void>;
  /** The customer opens the chat widget. */
  opensWidget(): Promise<void>;
  readonly human: SimulatedHuman;
  /** Advances the time: snoozes end, and scheduled calls of the bot happen. */
  advance(seconds: number): Promise<void>;
  /** Fails unless the bot has sent this message since the last step: the whole text, or one that matches the pattern. */
  expectReply(expected: string | RegExp): void;
  /** Fails if the bot has sent a message since the last step. */
  expectSilence(): void;
  /** Returns all messages and changes, a line each. */
  transcript(): string;
  /** Returns the bot's messages to the customer since the last step. */
  replies(): string[];
  /** Returns all private notes. */
  notes(): string[];
  /** Returns all runs of the bot, oldest first. */
  runs(): readonly SimulatedRun[];
  /** Returns the requests that `ctx.fetch` sent. */
  requests(): readonly SentRequest[];
  /** Current state of the conversation. */
  readonly conversation: ConversationState;
  /** The virtual time. */
  readonly now: Date;
}
