import { ModelError, type ChatAnswer, type ChatRequest } from '../models/chat.ts';
import { readAnswer } from '../models/read-answer.ts';
import type { ModelPorts } from '../runs/doors/chat.ts';
import type { FetchAnswer, SendRequest } from '../runs/doors/fetch.ts';
import type { FindPassages, KnowledgePorts } from '../runs/doors/search.ts';
import type { ToolPorts } from '../runs/doors/tools.ts';
import type {
  JsonObject,
  ScriptedAnswer,
  ScriptedFetch,
  ScriptedPassage,
  ScriptedReply,
  SentRequest,
  SimulateOptions,
} from './api.ts';

/** Scripted answers of `ctx.fetch`, `ctx.llm` and `ctx.kb` in a simulation, and nothing else. */
export class Script {
  readonly requests: SentRequest[] = [];
  readonly #fetch: readonly ScriptedFetch[];
  readonly #llm: SimulateOptions['llm'];
  readonly #kb: readonly ScriptedPassage[];
  #unexpected: string[] = [];
  #chats = 0;

  constructor({ fetch = [], llm, kb = [] }: Pick<SimulateOptions, 'fetch' | 'llm' | 'kb'>) {
    this.#fetch = fetch;
    this.#llm = llm;
    this.#kb = kb;
  }

  /** Returns and clears the bot's requests that the script had no answer to. */
  takeUnexpected(): string[] {
    const unexpected = this.#unexpected;
    this.#unexpected = [];
    return unexpected;
  }

  readonly send: SendRequest = async ({ url, method, headers, body: sent = null }) => {
    const body = sent === null ? null : sent.toString();
    const request = { url, method, headers: { ...headers }, body };
    this.requests.push(request);
    const scripted = this.#fetch.find((one) => fits(one, request));
    if (!scripted) return this.#surprise(`${method} ${url}${body === null ? '' : ` with the body ${body}`}`);
    try {
      const { reply } = scripted;
      return answerOf(typeof reply === 'function' ? await reply(request) : reply);
    } catch (error) {
      return { problem: failureOf(error) };
    }
  };

  get models(): ModelPorts {
    return {
      serverOf: () => Promise.resolve(this.#llm === undefined ? null : scriptedServer),
      chat: (_, question) => this.#answer(question),
      missed: (input) => this.#surprise(`ctx.llm.chat with ${JSON.stringify(input)}`),
      runMs: 60_000,
      maxTokens: 2048,
    };
  }

  async #answer(question: ChatRequest): Promise<ChatAnswer> {
    const { messages } = question;
    const at = this.#chats;
    this.#chats += 1;
    if (typeof this.#llm === 'function') return replyOfModel(await askScript(this.#llm, { ...question }), messages);
    if (at < (this.#llm?.length ?? 0)) return replyOfModel(this.#llm?.[at], messages);
    this.#surprise(`ctx.llm.chat with ${JSON.stringify(question)}`);
    throw new Error('`llm` of the simulation has no further answer');
  }

  get knowledge(): KnowledgePorts {
    return { find: this.#search, languages: () => Promise.resolve(this.#languages()) };
  }

  /** `fetch` of the script answers calls of tools, too. */
  readonly tools: ToolPorts = { approvedHosts: () => Promise.resolve(null) };

  #languages(): string[] {
    return [...new Set(this.#kb.map(({ language = 'en' }) => language))];
  }

  readonly #search: FindPassages = (_, { query, limit }) => {
    const words = wordsOf(query);
    const scored = this.#kb.map((passage, index) => {
      const found = wordsOf(`${passage.title} ${passage.text}`);
      const standing = (passage.text.match(everyWord) ?? []).filter((word) => words.includes(word.toLowerCase()));
      const shared = words.filter((word) => found.includes(word)).length;
      const score = words.length === 0 ? 0 : shared / words.length;
      const usual = {
        id: index + 1,
        url: null,
        heading: null,
        language: 'en',
        score,
        answers: score > 0,
        question: query,
      };
      // A script says what is found, and not how well.
      return { ...usual, words: [...new Set(standing)], matches: null, ...passage };
    });
    const hits = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
    return Promise.resolve(hits.slice(0, limit));
  };

  #surprise(what: string): FetchAnswer {
    this.#unexpected.push(what);
    return { problem: { code: 'unscripted', message: `The simulation has no answer to ${what}` } };
  }
}

/** Asks the script for the model. Throws what the service throws when a model does not answer. */
async function askScript(llm: (input: JsonObject) => unknown, question: JsonObject): Promise<unknown> {
  try {
    return await llm(question);
  } catch (error) {
    const { code, message } = failureOf(error);
    throw new ModelError(code, message);
  }
}

/** The failure that a scripted function throws; a host or model that cannot be reached unless the error has another code. */
function failureOf(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: 'connect', message: String(error) };
  const { code, message } = error as Error & { code?: unknown };
  return { code: typeof code === 'string' ? code : 'connect', message };
}

function fits({ url, method }: ScriptedFetch, request: SentRequest): boolean {
  if (method !== undefined && method.toUpperCase() !== request.method) return false;
  return typeof url === 'string' ? url === request.url : url.test(request.url);
}

function answerOf({ status = 200, headers = {}, body = '' }: ScriptedReply): FetchAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { status, headers: Object.fromEntries(named), text };
}

const scriptedServer = { baseUrl: 'https://model.example/v1', model: 'scripted', apiKey: null, isOperators: false };

// Read as the service reads what a server answers. A text stands for an answer with this content.
function replyOfModel(answer: unknown, messages: ChatRequest['messages']): ChatAnswer {
  const given = (typeof answer === 'string' ? { content: answer } : (answer ?? {})) as ScriptedAnswer;
  const { content = '', tool_calls: calls = [], finish_reason = calls.length > 0 ? 'tool_calls' : 'stop' } = given;
  const called = calls.map(({ id, name, arguments: value }) => ({ id, function: { name, arguments: textOf(value) } }));
  const { model = scriptedServer.model, usage } = given;
  const choice = { message: { content, tool_calls: called }, finish_reason };
  return readAnswer({ choices: [choice], model, usage }, model, messages);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}

const everyWord = /[\p{L}\p{N}]+/gu;

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(everyWord) ?? [];
}
