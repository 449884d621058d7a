import { ModelError, type Chat, type ChatAnswer, type ModelServer } from '../../models/chat.ts';
import { findProblems, type Shape } from '../../schemas.ts';
import { tokensOf, type TokenUsage } from '../usage.ts';
import { findDisorder } from './chat-order.ts';
import { DoorError, UnavailableError } from './errors.ts';

/** The account and the bot of a run. */
interface ChatOwner {
  accountId: number;
  botId: number;
}

/** Ports of `ctx.llm`. */
export interface ModelPorts {
  /** The server that the bot asks, read anew for each question; null when there is none. */
  serverOf: (bot: { accountId: number; isSystemBot: boolean }) => Promise<ModelServer | null>;
  chat: Chat;
  /** Called with questions for which there is no server. */
  missed?: (input: unknown) => void;
  /** The tokens that the bot has used in the account today, without those of runs that go on. */
  spentToday?: (owner: ChatOwner, now: Date) => Promise<number>;
  /** Milliseconds for which one run may wait for models. */
  runMs: number;
  /** Tokens of one answer at most. */
  maxTokens: number;
}

type Question = Shape<'runtime/chat'>;

const defaultTemperature = 0.2;

/** The run that asks, and the tokens that its bot may use on a day; null for any number. */
export interface ChatRun {
  owner: ChatOwner;
  now: Date;
  isSystemBot: boolean;
  tokensPerDay: number | null;
}

/** `ctx.llm` of one run. */
export class ChatDoor {
  readonly #ports: ModelPorts | undefined;
  readonly #run: ChatRun;
  #leftMs: number;
  readonly #answers: { name: 'llm.chat'; output: Pick<ChatAnswer, 'usage'> }[] = [];
  /** Why the last question had no answer, for the operator; null when it had one, undefined before the first. */
  health: string | null | undefined;

  constructor({ owner, now, isSystemBot, tokensPerDay }: ChatRun, ports: ModelPorts | undefined) {
    this.#run = { owner, now, isSystemBot, tokensPerDay };
    this.#ports = ports;
    this.#leftMs = ports?.runMs ?? 0;
  }

  /** Tokens of all answers, including those that the bot did not get. */
  get tokens(): TokenUsage {
    return tokensOf(this.#answers);
  }

  /** The model that would be asked, and the tokens that are left for today (null for any number); null without a model. */
  async status(): Promise<{ model: string; tokens_left: number | null } | null> {
    const server = await this.#server();
    return server ? { model: server.model, tokens_left: await this.#tokensLeft() } : null;
  }

  async #server(): Promise<ModelServer | null> {
    const { owner, isSystemBot } = this.#run;
    return (await this.#ports?.serverOf({ accountId: owner.accountId, isSystemBot })) ?? null;
  }

  async #tokensLeft(): Promise<number | null> {
    const { owner, now, tokensPerDay } = this.#run;
    if (tokensPerDay === null) return null;
    const spent = (await this.#ports?.spentToday?.(owner, now)) ?? 0;
    const { promptTokens, completionTokens } = this.tokens;
    return Math.max(0, tokensPerDay - spent - promptTokens - completionTokens);
  }

  /** Asks the model. Rejects with a DoorError. */
  async chat(input: unknown, signal: AbortSignal): Promise<ChatAnswer> {
    const server = await this.#server();
    if (!this.#ports || !server) {
      this.#ports?.missed?.(input);
      throw new UnavailableError('llm');
    }
    const { temperature = defaultTemperature, max_tokens: wanted, ...question } = readQuestion(input);
    if ((await this.#tokensLeft()) === 0) throw new DoorError('budget', 'The tokens of the bot for today are used up');
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
      const answer = await chat(server, request, inTime);
      this.#answers.push({ name: 'llm.chat', output: { usage: answer.usage } });
      this.health = null;
      return answer;
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      this.health = error.message;
      throw new DoorError(error.code, error.message);
    } finally {
      this.#leftMs -= performance.now() - startedAt;
    }
  }
}

function readQuestion(input: unknown): Question {
  const [problem] = findProblems('runtime/chat', input, 'The question');
  const fault = problem?.message ?? findDisorder(input as Question);
  if (fault !== null) throw new DoorError('bad_request', fault);
  return input as Question;
}
