import type { OpenAI } from 'openai';
import type { OutboundGate } from '../lib/outbound-gate.ts';
import { createOutboundHttp, type OutboundHttp } from '../outbound/http.ts';
import { bodyOf, type Dispensable } from './chat-body.ts';
import { ModelError, type Chat, type ModelServer } from './chat.ts';
import type { Embed } from './embed.ts';
import { explainRefusal, parameterToDrop } from './explain-refusal.ts';
import { fetchBy } from './fetch-by.ts';
import { readAnswer } from './read-answer.ts';
import { readVectors } from './read-vectors.ts';

/** Asks models at any server with the API of OpenAI (chat completions, embeddings). */
export interface ModelClient {
  chat: Chat;
  embed: Embed;
  /** Refuses new questions, waits for the current ones, and closes the connections. */
  close(): Promise<void>;
}

interface ModelClientOptions {
  /** Refuses all questions while it is held. */
  gate: OutboundGate;
  /** Ranges of private addresses at which accounts may have their servers. The operator's own may be anywhere. */
  allowCidrs: readonly string[];
  /** The longest time for an answer, in milliseconds, with the second attempt after a failure. */
  timeoutMs: number;
  /** The largest answer, in bytes. */
  maxBytes: number;
  /** The largest answer with vectors, in bytes. */
  maxVectorBytes: number;
}

/** How a server is asked: a question that fails is asked again `maxRetries` times. */
interface Way {
  outbound: OutboundHttp;
  timeoutMs: number;
  maxBytes: number;
  maxRetries: number;
}

type Send = (client: OpenAI, options: { signal: AbortSignal; timeout: number; maxRetries: number }) => Promise<unknown>;

const chatRetries = 1;
const connectionsPerOrigin = 64;
const everywhere = ['0.0.0.0/0', '::/0'];
/** Models whose refused parameters are remembered. */
const maxRemembered = 1000;

/** A client for all accounts. The library is loaded with the first question. */
export function createModelClient({ maxBytes, maxVectorBytes, ...common }: ModelClientOptions): ModelClient {
  const chats = waysOf({ ...common, maxBytes });
  const embeddings = waysOf({ ...common, maxBytes: maxVectorBytes });
  const refused = new Refused();

  const chat: Chat = async (server, request, given) => {
    // All attempts together: a customer waits for the answer, and a server that hangs would hang once more.
    const signal = AbortSignal.any([given, AbortSignal.timeout(common.timeoutMs)]);
    const way = { ...chats.to(server), maxRetries: chatRetries };
    const without = new Set(refused.by(server));
    // Each further attempt leaves out one more parameter.
    for (;;) {
      const body = bodyOf(server, request, without) as OpenAI.ChatCompletionCreateParamsNonStreaming;
      try {
        const send: Send = (client, options) => client.chat.completions.create(body, options);
        return readAnswer(await ask(way, server, { send, signal }), server.model, request.messages);
      } catch (error) {
        const parameter = parameterToDrop(error, without);
        if (parameter === null) throw error instanceof ModelError ? error : explainRefusal(error, server);
        without.add(parameter);
        // A format may be refused for its schema, which is that of one bot.
        if (parameter !== 'response_format') refused.add(server, parameter);
      }
    }
  };
  const embed: Embed = async (server, texts, signal) => {
    // As numbers: not every server knows the shorter form that the library would ask for.
    const body = { model: server.model, input: [...texts], encoding_format: 'float' as const };
    const send: Send = (client, options) => client.embeddings.create(body, options);
    try {
      return readVectors(
        await ask({ ...embeddings.to(server), maxRetries: 0 }, server, { send, signal }),
        texts.length,
      );
    } catch (error) {
      throw error instanceof ModelError ? error : explainRefusal(error, server);
    }
  };
  return {
    chat,
    embed,
    async close() {
      await Promise.all([chats.close(), embeddings.close()]);
    },
  };
}

/** The ways to the servers of accounts, which are guarded, and to the operator's, which may be anywhere. */
function waysOf({ gate, allowCidrs, timeoutMs, maxBytes }: Omit<ModelClientOptions, 'maxVectorBytes'>) {
  const common = { gate, timeoutMs, maxResponseBytes: maxBytes, connectionsPerOrigin };
  const guarded = createOutboundHttp({ ...common, allowCidrs });
  const operators = createOutboundHttp({ ...common, allowCidrs: everywhere });
  return {
    to: (server: ModelServer) => ({ outbound: server.isOperators ? operators : guarded, timeoutMs, maxBytes }),
    close: () => Promise.all([guarded.close(), operators.close()]),
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
  { outbound, timeoutMs, maxBytes, maxRetries }: Way,
  { baseUrl, apiKey }: ModelServer,
  { send, signal }: { send: Send; signal: AbortSignal },
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
    const answer = await send(client, { signal, timeout: timeoutMs, maxRetries });
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
