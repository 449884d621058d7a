import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A question as the server got it. */
export interface Question {
  path: string;
  headers: IncomingHttpHeaders;
  body: {
    model: string;
    messages: { role: string; content: string; tool_calls?: WireCall[]; tool_call_id?: string }[];
    temperature?: number;
    max_tokens?: number;
    max_completion_tokens?: number;
    tools?: { type: string; function: { name: string; parameters: object } }[];
    tool_choice?: string | object;
    response_format?: object;
    stream?: boolean;
  };
}

/** A call as it is sent. */
interface WireCall {
  id: string;
  type: string;
  function: { name: string; arguments: string };
}

/** How the server answers one question. */
export type Reply = (response: ServerResponse, question: Question) => void;

const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

function answer(message: object, { finish = 'stop' } = {}): Reply {
  return (response, { body }) => {
    const choice = { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish };
    json(response, 200, { id: 'chat-1', object: 'chat.completion', model: body.model, choices: [choice], usage });
  };
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function refuse(status: number, message: string, { headers = {}, param = null as string | null } = {}): Reply {
  return (response) => json(response, status, { error: { message, type: 'error', param, code: null } }, headers);
}

/** A call of a function; arguments as a value, or as the text that the model wrote. */
export function call(name: string, given: unknown): object {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  return { id: `call-${name}`, type: 'function', function: { name, arguments: text } };
}

/** Answers of every kind. */
export const replies = {
  text: (content: string) => answer({ content }),
  message: (message: object) => answer(message),
  calls: (...calls: object[]) => answer({ tool_calls: calls }, { finish: 'tool_calls' }),
  answer: (text: string, citations: number[] = [1], confident = true) =>
    replies.calls(call('answer', { text, citations, confident })),
  handoff: (reason: string, summary = '') => replies.calls(call('handoff', { reason, summary })),
  refuse,
  emptyChoices: (): Reply => (response) => json(response, 200, { id: 'chat-1', choices: [], usage }),
  html: (): Reply => (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html><body>Welcome to our proxy</body></html>');
  },
  brokenJson: (): Reply => (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"choices": [');
  },
  null: (): Reply => (response) => json(response, 200, null),
  hang: (): Reply => () => undefined,
  trickle: (): Reply => (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  },
  large: (bytes: number) => answer({ content: 'x'.repeat(bytes) }),
} as const;

/** A question for embeddings as the server got it. */
export interface EmbeddingQuestion {
  headers: IncomingHttpHeaders;
  body: { model: string; input: string[]; encoding_format?: string };
}

/** How the server answers one question for embeddings. */
export type EmbeddingReply = (response: ServerResponse, question: EmbeddingQuestion) => void;

/** Answers of every kind to questions for embeddings. */
export const embeddings = {
  /** The vectors that a function makes of texts; numbers that JSON has not may be texts. */
  by:
    (vectorOf: (text: string) => readonly unknown[]): EmbeddingReply =>
    (response, { body }) =>
      json(response, 200, {
        object: 'list',
        data: body.input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })),
        model: body.model,
        usage: { prompt_tokens: body.input.length, total_tokens: body.input.length },
      }),
  body:
    (body: unknown): EmbeddingReply =>
    (response) =>
      json(response, 200, body),
  text:
    (text: string): EmbeddingReply =>
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(text);
    },
  refuse:
    (status: number, message: string): EmbeddingReply =>
    (response) =>
      json(response, status, { error: { message, type: 'error', param: null, code: null } }),
  hang: (): EmbeddingReply => () => undefined,
} as const;

/** A server with the API of OpenAI on loopback, which answers by a script and keeps what it was asked. */
export class FakeModelServer {
  readonly questions: Question[] = [];
  readonly embedded: EmbeddingQuestion[] = [];
  /** What answers questions for embeddings; a server without them unless a test says so. */
  embeddings: EmbeddingReply = embeddings.refuse(404, 'Not Found');
  readonly #server: Server;
  #script: Reply[] = [];
  #otherwise: Reply = refuse(500, 'The script of the test is over');

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const given: unknown = JSON.parse(Buffer.concat(chunks).toString());
        if (request.url?.endsWith('/embeddings')) {
          const asked = { headers: request.headers, body: given as EmbeddingQuestion['body'] };
          this.embedded.push(asked);
          return this.embeddings(response, asked);
        }
        const question = { path: request.url ?? '', headers: request.headers, body: given as Question['body'] };
        this.questions.push(question);
        (this.#script.shift() ?? this.#otherwise)(response, question);
      });
    });
  }

  static async start(): Promise<FakeModelServer> {
    const fake = new FakeModelServer();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Sets the next answers, in order, and forgets what was asked; `otherwise` is the answer to all others. */
  expect(script: readonly Reply[], otherwise: Reply = refuse(500, 'The script of the test is over')): void {
    this.#script = [...script];
    this.#otherwise = otherwise;
    this.questions.length = 0;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
