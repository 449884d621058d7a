import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { send, type HookAnswer } from './hook-senders.ts';

/** A message that a bot has sent. */
export interface SentMessage {
  method: string;
  token: string;
  /** Fields of the request; a file by its name. */
  fields: Record<string, string>;
  messageId: number;
}

/** A failure of the next request that sends a message. */
interface Failure {
  status: number;
  description: string;
  parameters?: object;
}

/** The result of a request that sends a message. */
interface Sent {
  message_id?: number;
}

const limits = { text: 4096, caption: 1024 } as const;

/**
 * A server of the Telegram Bot API as far as the channel uses it: it answers, and refuses, in the documented shapes, over HTTP. It
 * knows its bots by their tokens, and delivers updates to the webhook that is set for each.
 */
export class FakeTelegram {
  readonly sent: SentMessage[] = [];
  /** Called when a message was sent; awaited before the answer. */
  onSent: ((message: SentMessage) => Promise<void>) | null = null;
  /** Answers of the next requests that send messages, first one first. */
  readonly failures: Failure[] = [];
  /** Chats whose customer has blocked the bot. */
  readonly blocked = new Set<string>();
  /** Files by their ids; null for one that is too big. */
  readonly files = new Map<string, Buffer | null>();
  /** Statuses of the next answers to requests for the bytes of files. */
  readonly fileFailures: number[] = [];
  readonly #server: Server;
  readonly #webhooks = new Map<string, { url: string; secret: string }>();
  #ids = 1_000;
  url = '';

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<FakeTelegram> {
    const telegram = new FakeTelegram();
    await new Promise<void>((resolve) => telegram.#server.listen(0, '127.0.0.1', resolve));
    telegram.url = `http://127.0.0.1:${(telegram.#server.address() as AddressInfo).port}`;
    return telegram;
  }

  /** Sends an update to the webhook of a bot, as Telegram does. */
  async update(token: string, update: Record<string, unknown>, id = this.nextId()): Promise<HookAnswer> {
    const webhook = this.#webhooks.get(token);
    if (!webhook) throw new Error('No webhook is set');
    return send(webhook.url, JSON.stringify({ update_id: id, ...update }), {
      'content-type': 'application/json',
      'x-telegram-bot-api-secret-token': webhook.secret,
    });
  }

  /** Sends a message of a private chat. */
  write(token: string, chat: number, fields: Record<string, unknown>, id?: number): Promise<HookAnswer> {
    return this.update(token, { message: messageOf(chat, { message_id: this.nextId(), ...fields }) }, id);
  }

  /** Sets the webhook of a bot, as its owner does; another system's call replaces it. */
  async setWebhook(token: string, { url, secret }: { url: string; secret: string }): Promise<void> {
    await fetch(`${this.url}/bot${token}/setWebhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url, secret_token: secret }),
    });
  }

  nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const file = /^\/file\/bot([^/]+)\/(.+)$/.exec(pathname);
    if (file) return this.#answerFile(response, file[2] ?? '');
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(pathname) ?? [];
    const fields = { ...Object.fromEntries(searchParams), ...(await readFields(request)) };
    const { status, ...body } = this.#call(token, method, fields);
    const sent = this.sent.find(({ messageId }) => messageId === (body['result'] as Sent | undefined)?.message_id);
    if (sent) await this.onSent?.(sent);
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ok: status === 200, ...body }));
  }

  #answerFile(response: ServerResponse, path: string): void {
    const bytes = this.files.get(path.replace(/^documents\//, ''));
    const failure = this.fileFailures.shift();
    if (failure !== undefined) response.writeHead(failure).end();
    else if (bytes) response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
    else response.writeHead(404).end();
  }

  #call(token: string, method: string, fields: Record<string, string>): { status: number; [field: string]: unknown } {
    if (!/^\d+:[\w-]+$/.test(token)) return refusal(404, 'Not Found');
    if (method === 'setWebhook') {
      this.#webhooks.set(token, { url: fields.url ?? '', secret: fields.secret_token ?? '' });
      return { status: 200, result: true, description: 'Webhook was set' };
    }
    if (method === 'getWebhookInfo') {
      return { status: 200, result: { url: this.#webhooks.get(token)?.url ?? '', pending_update_count: 0 } };
    }
    if (method === 'getFile') return this.#getFile(fields.file_id ?? '');
    if (!['sendMessage', 'sendPhoto', 'sendDocument'].includes(method)) return refusal(404, 'Not Found');
    return this.#send(token, method, fields);
  }

  #getFile(id: string): { status: number; [field: string]: unknown } {
    const file = this.files.get(id);
    if (file === null) return refusal(400, 'Bad Request: file is too big');
    if (!file) return refusal(400, 'Bad Request: invalid file_id');
    return { status: 200, result: { file_id: id, file_size: file.length, file_path: `documents/${id}` } };
  }

  #send(token: string, method: string, fields: Record<string, string>): { status: number; [field: string]: unknown } {
    const failure = this.failures.shift();
    if (failure) return refusal(failure.status, failure.description, failure.parameters);
    const chat = fields.chat_id ?? '';
    if (this.blocked.has(chat)) return refusal(403, 'Forbidden: bot was blocked by the user');
    const problem = problemOf(method, fields);
    if (problem !== null) return refusal(400, `Bad Request: ${problem}`);
    const messageId = this.nextId();
    this.sent.push({ method, token, fields, messageId });
    const result = { message_id: messageId, chat: { id: Number(chat), type: 'private' }, date: 1_700_000_000 };
    return { status: 200, result };
  }
}

function problemOf(method: string, fields: Record<string, string>): string | null {
  const { chat_id: chat = '', text = '', caption = '' } = fields;
  const needed = { sendMessage: text, sendPhoto: fields.photo, sendDocument: fields.document }[method];
  if (!/^-?\d+$/.test(chat)) return 'chat not found';
  if (!needed) return method === 'sendMessage' ? 'message text is empty' : 'there is no file in the request';
  if (text.length > limits.text) return 'message is too long';
  return caption.length > limits.caption ? 'message caption is too long' : null;
}

/** Returns a message of a private chat as updates have it. */
export function messageOf(chat: number, fields: Record<string, unknown>): Record<string, unknown> {
  const from = { id: chat, is_bot: false, first_name: 'Ada', last_name: `No. ${chat}` };
  return { from, chat: { id: chat, type: 'private', first_name: 'Ada' }, date: 1_700_000_000, ...fields };
}

function refusal(status: number, description: string, parameters?: object) {
  return { status, error_code: status, description, ...(parameters ? { parameters } : {}) };
}

async function readFields(request: IncomingMessage): Promise<Record<string, string>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const type = request.headers['content-type'] ?? '';
  if (body.length === 0) return {};
  if (!type.startsWith('multipart/form-data')) return JSON.parse(body.toString()) as Record<string, string>;
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const entries = await Promise.all(
    Array.from(form, async ([name, value]) => [
      name,
      typeof value === 'string' ? value : `${value.name} ${await value.text()}`,
    ]),
  );
  return Object.fromEntries(entries) as Record<string, string>;
}
