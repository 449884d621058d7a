import { ModelError, type Chat, type ChatAnswer, type ModelServer } from '../../models/chat.ts';
import { findProblems, type Shape } from '../../schemas.ts';
import { DoorError, UnavailableError } from './errors.ts';

/** Whose run it is. */
export interface ChatOwner {
  accountId: number;
  botId: number;
}

/** What is behind `ctx.llm`. */
export interface ModelPorts {
  /** The server that the account's bots ask, read anew for each question; null when there is none. */
  serverOf: (accountId: number) => Promise<ModelServer | null>;
  chat: Chat;
  /** Told of questions for which there is no server. */
  missed?: (input: unknown) => void;
  /** Milliseconds for which one run may wait for models. */
  runMs: number;
  /** Tokens of one answer at most. */
  maxTokens: number;
}

type Question = Shape<'runtime/chat'>;

const defaultTemperature = 0.2;

/** `ctx.llm` of one run. */
export class ChatDoor {
  readonly #ports: ModelPorts | undefined;
  readonly #owner: ChatOwner;
  #leftMs: number;

  constructor(owner: ChatOwner, ports: ModelPorts | undefined) {
    this.#owner = owner;
    this.#ports = ports;
    this.#leftMs = ports?.runMs ?? 0;
  }

  /** The model that would be asked; null when there is none. */
  async status(): Promise<{ model: string } | null> {
    const server = await this.#ports?.serverOf(this.#owner.accountId);
    return server ? { model: server.model } : null;
  }

  /** Asks the model. Rejects with a DoorError. */
  async chat(input: unknown, signal: AbortSignal): Promise<ChatAnswer> {
    const server = await this.#ports?.serverOf(this.#owner.accountId);
    if (!this.#ports || !server) {
      this.#ports?.missed?.(input);
      throw new UnavailableError('llm');
    }
    const { temperature = defaultTemperature, max_tokens: wanted, ...question } = readQuestion(input);
    const { chat, maxTokens } = this.#ports;
    const startedAt = performance.now();
    const request = {
      tools: [],
      tool_choice: 'auto',
      ...question,
      temperature: Math.min(1, Math.max(0, temperature)),
      max_tokens: Math.min(maxTokens, wanted ?? maxTokens),
    } as const;
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.ceil(this.#leftMs)))]);
    try {
      return await chat(server, request, inTime);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      throw new DoorError(error.code, error.message);
    } finally {
      this.#leftMs -= performance.now() - startedAt;
    }
  }
}

function readQuestion(input: unknown): Question {
  const [problem] = findProblems('runtime/chat', input, 'The question');
  if (problem) throw new DoorError('bad_request', problem.message);
  return input as Question;
}
