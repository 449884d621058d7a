import type { OpenAI } from 'openai';
import { createOutboundHttp, type OutboundHttp } from '../outbound/http.ts';
import { ModelError, type Chat, type ChatRequest, type ModelServer } from './chat.ts';
import { explainRefusal, isAbout } from './explain-refusal.ts';
import { fetchBy } from './fetch-by.ts';
import { readAnswer } from './read-answer.ts';

/** Asks models at any server with the API of OpenAI (chat completions). */
export interface ModelClient {
  chat: Chat;
  /** Refuses new questions, waits for the current ones, and closes the connections. */
  close(): Promise<void>;
}

interface ModelClientOptions {
  /** Ranges of private addresses at which accounts may have their servers. The operator's own may be anywhere. */
  allowCidrs: readonly string[];
  /** The longest attempt, in milliseconds; there are two at most. */
  timeoutMs: number;
  /** The largest answer, in bytes. */
  maxBytes: number;
}

/** How a server is asked. */
interface Way {
  outbound: OutboundHttp;
  timeoutMs: number;
  maxBytes: number;
}

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;

const maxRetries = 1;
const connectionsPerOrigin = 64;
const everywhere = ['0.0.0.0/0', '::/0'];
/** Models whose refused parameters are remembered. */
const maxRemembered = 1000;
// Parameters that not every server or model takes, in the order in which they are looked for in a refusal.
const dispensable = ['max_tokens', 'temperature', 'tool_choice'] as const;
type Dispensable = (typeof dispensable)[number];

/** A client for all accounts. The library is loaded with the first question. */
export function createModelClient({ allowCidrs, timeoutMs, maxBytes }: ModelClientOptions): ModelClient {
  const common = { timeoutMs, maxResponseBytes: maxBytes, connectionsPerOrigin };
  const guarded = createOutboundHttp({ ...common, allowCidrs });
  const operators = createOutboundHttp({ ...common, allowCidrs: everywhere });
  const refused = new Refused();

  const chat: Chat = async (server, request, signal) => {
    const way = { outbound: server.isOperators ? operators : guarded, timeoutMs, maxBytes };
    // Each further attempt leaves out one more parameter.
    for (;;) {
      const without = refused.by(server);
      try {
        return readAnswer(await ask(way, server, { body: bodyOf(server, request, without), signal }), server.model);
      } catch (error) {
        const parameter = dispensable.find((one) => !without.has(one) && isAbout(error, one));
        if (parameter === undefined) throw error instanceof ModelError ? error : explainRefusal(error, server);
        refused.add(server, parameter);
      }
    }
  };
  return {
    chat,
    async close() {
      await Promise.all([guarded.close(), operators.close()]);
    },
  };
}

/** Which parameters which models refuse, as far as this process has seen. */
class Refused {
  readonly #byModel = new Map<string, ReadonlySet<Dispensable>>();

  by({ baseUrl, model }: ModelServer): ReadonlySet<Dispensable> {
    return this.#byModel.get(`${baseUrl} ${model}`) ?? new Set();
  }

  add(server: ModelServer, parameter: Dispensable): void {
    if (this.#byModel.size >= maxRemembered) this.#byModel.clear();
    this.#byModel.set(`${server.baseUrl} ${server.model}`, new Set([...this.by(server), parameter]));
  }
}

async function ask(
  { outbound, timeoutMs, maxBytes }: Way,
  { baseUrl, apiKey }: ModelServer,
  { body, signal }: { body: Body; signal: AbortSignal },
): Promise<unknown> {
  const { OpenAI: Client } = await import('openai');
  let failure: ModelError | null = null;
  const failed = (one: ModelError): void => {
    failure = one;
  };
  // Everything is passed, so that the client looks for nothing in its environment.
  const client = new Client({
    baseURL: baseUrl,
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    timeout: timeoutMs,
    maxRetries,
    fetch: fetchBy(outbound, { apiKey, maxBytes, failed }),
  });
  try {
    const answer: unknown = await client.chat.completions.create(body, { signal, timeout: timeoutMs, maxRetries });
    if (failure) throw failure as ModelError;
    return answer;
  } catch (error) {
    // The client's own error says less about a request without an answer.
    throw isWithoutStatus(error) ? (failure ?? error) : error;
  }
}

function isWithoutStatus(error: unknown): boolean {
  return !(error instanceof Error && 'status' in error && typeof error.status === 'number');
}

function bodyOf(
  { model }: ModelServer,
  { messages, temperature, max_tokens, tools, tool_choice }: ChatRequest,
  without: ReadonlySet<Dispensable>,
): Body {
  const called = tools.map(({ name, description = '', parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters: { ...parameters } },
  }));
  return {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    stream: false,
    // Newer models know this bound by another name.
    ...(without.has('max_tokens') ? { max_completion_tokens: max_tokens } : { max_tokens }),
    ...(without.has('temperature') ? {} : { temperature }),
    ...(called.length === 0 ? {} : { tools: called }),
    ...(called.length === 0 || without.has('tool_choice') ? {} : { tool_choice }),
  };
}
