import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { send, type HookAnswer } from './hook-senders.ts';

/** A message that a business has sent. */
export interface SentWhatsApp {
  id: string;
  phone: string;
  token: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: Record<string, any>;
}

/** An error of the Graph API. */
interface Failure {
  status: number;
  code: number;
  message: string;
  details?: string;
}

interface Reply {
  status: number;
  body: unknown;
}

const version = '/v24.0';
const appSecret = 'a-secret-of-the-app';
const dayMs = 86_400_000;

/**
 * A server of the WhatsApp Cloud API as far as the channel uses it: it answers, and refuses, in the documented shapes, over HTTP,
 * and sends signed webhooks. It keeps the window of 24 hours of each customer.
 */
export class FakeWhatsApp {
  static readonly appSecret = appSecret;
  readonly sent: SentWhatsApp[] = [];
  /** Answers of the next requests that send messages, first one first. */
  readonly failures: Failure[] = [];
  /** Called before a message is answered, when it was accepted. */
  onAccepted: ((message: SentWhatsApp, response: ServerResponse) => Promise<void>) | null = null;
  /** Files of customers and of the business by their ids. */
  readonly files = new Map<string, { bytes: Buffer; type: string; name?: string }>();
  /** Requests for files with the header that they brought. */
  readonly downloads: string[] = [];
  readonly #server: Server;
  readonly #tokens = new Map<string, string>();
  readonly #lastWrote = new Map<string, number>();
  readonly #webhooks = new Map<string, string>();
  #ids = 1_000;
  url = '';

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<FakeWhatsApp> {
    const whatsapp = new FakeWhatsApp();
    await new Promise<void>((resolve) => whatsapp.#server.listen(0, '127.0.0.1', resolve));
    whatsapp.url = `http://127.0.0.1:${(whatsapp.#server.address() as AddressInfo).port}${version}`;
    return whatsapp;
  }

  /** Admits a token to a number. */
  admit(phone: string, token: string): void {
    this.#tokens.set(phone, token);
  }

  /** Sets the webhook of a number, as Meta does: only after the URL has answered the challenge. */
  async subscribe(phone: string, url: string, verifyToken: string): Promise<boolean> {
    const query = new URLSearchParams({
      'hub.mode': 'subscribe',
      'hub.challenge': '1158201444',
      'hub.verify_token': verifyToken,
    });
    const answer = await fetch(`${url}?${query.toString()}`);
    const isMine = answer.status === 200 && (await answer.text()) === '1158201444';
    if (isMine) this.#webhooks.set(phone, url);
    return isMine;
  }

  /** Sends changes of a number to its webhook. */
  async notify(phone: string, values: readonly object[], secret = appSecret): Promise<HookAnswer> {
    const changes = values.map((value) => ({ field: 'messages', value: this.valueOf(phone, value) }));
    return this.deliver(
      phone,
      { object: 'whatsapp_business_account', entry: [{ id: '102290129340398', changes }] },
      secret,
    );
  }

  /** Sends a body, with characters that are not ASCII escaped as Meta does. */
  async deliver(phone: string, body: object, secret = appSecret): Promise<HookAnswer> {
    const text = JSON.stringify(body).replaceAll(/[\u0080-\uffff]/g, escaped);
    const signature = createHmac('sha256', secret).update(text).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` };
    return send(this.#webhooks.get(phone) ?? '', text, headers);
  }

  valueOf(phone: string, value: object): object {
    return {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550783881', phone_number_id: phone },
      ...value,
    };
  }

  /** Has a customer write. */
  write(phone: string, from: string, fields: Record<string, unknown>): Promise<HookAnswer> {
    return this.notify(phone, [{ contacts: [contactOf(from)], messages: [this.messageOf(from, fields)] }]);
  }

  messageOf(from: string, fields: Record<string, unknown>): Record<string, unknown> {
    this.#lastWrote.set(from, Date.now());
    return { from, id: this.nextId(), timestamp: '1700000000', ...fields };
  }

  /** Tells what became of a message. */
  tell(
    phone: string,
    message: Pick<SentWhatsApp, 'id' | 'body'>,
    status: string,
    fields: object = {},
  ): Promise<HookAnswer> {
    return this.notify(phone, [{ statuses: [this.statusOf(message, status, fields)] }]);
  }

  statusOf({ id, body }: Pick<SentWhatsApp, 'id' | 'body'>, status: string, fields: object = {}): object {
    const { to, biz_opaque_callback_data: data } = body;
    return {
      id,
      status,
      timestamp: '1700000001',
      recipient_id: to,
      ...(data ? { biz_opaque_callback_data: data } : {}),
      ...fields,
    };
  }

  /** Ends the window of a customer. */
  closeWindow(customer: string): void {
    this.#lastWrote.set(customer, Date.now() - dayMs - 1);
  }

  nextId(): string {
    this.#ids += 1;
    return `wamid.HBgL${this.#ids}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.url);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const media = /^\/whatsapp_business\/attachments\/(.+)$/.exec(pathname)?.[1];
    if (media !== undefined) return this.#answerFile(response, media, token);
    const [, id = '', action] = new RegExp(`^${version}/([^/]+)(?:/(messages|media))?$`).exec(pathname) ?? [];
    const { status, body } = await this.#answer(request, response, { id, action, token });
    if (!response.writableEnded && !response.destroyed)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #answerFile(response: ServerResponse, id: string, token: string): void {
    this.downloads.push(token);
    const file = this.files.get(id);
    if (!file || ![...this.#tokens.values()].includes(token)) return void response.writeHead(file ? 401 : 404).end();
    response.writeHead(200, { 'content-type': file.type }).end(file.bytes);
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    { id, action, token }: { id: string; action: string | undefined; token: string },
  ): Promise<Reply> {
    const bytes = await bodyOf(request);
    const isKnown = action === undefined ? [...this.#tokens.values()].includes(token) : this.#tokens.get(id) === token;
    if (!isKnown) return failure({ status: 401, code: 190, message: 'Error validating access token' });
    if (action === undefined) return this.#findFile(id);
    if (action === 'media') return this.#keepFile(request, bytes);
    return this.#accept(response, {
      id: this.nextId(),
      phone: id,
      token,
      body: JSON.parse(bytes.toString()) as object,
    });
  }

  #findFile(id: string): Reply {
    const file = this.files.get(id);
    if (!file) return failure({ status: 400, code: 100, message: 'Unsupported get request. Object does not exist' });
    const url = `${new URL(this.url).origin}/whatsapp_business/attachments/${id}`;
    return {
      status: 200,
      body: { messaging_product: 'whatsapp', url, mime_type: file.type, file_size: file.bytes.length, id },
    };
  }

  async #keepFile(request: IncomingMessage, bytes: Buffer): Promise<Reply> {
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    const form = await new Response(new Uint8Array(bytes), { headers }).formData();
    const file = form.get('file');
    if (form.get('messaging_product') !== 'whatsapp' || !(file instanceof File))
      return failure({ status: 400, code: 100, message: '(#100) The parameter file is required.' });
    const id = `90${this.nextId().slice(-4)}`;
    this.files.set(id, {
      bytes: Buffer.from(await file.arrayBuffer()),
      type: form.get('type') as string,
      name: file.name,
    });
    return { status: 200, body: { id } };
  }

  async #accept(response: ServerResponse, message: SentWhatsApp): Promise<Reply> {
    const planned = this.failures.shift();
    if (planned) return failure(planned);
    const { body } = message;
    const problem = problemOf(body) ?? this.#windowProblem(body);
    if (problem) return failure(problem);
    this.sent.push(message);
    await this.onAccepted?.(message, response);
    const contacts = [{ input: body['to'], wa_id: body['to'] }];
    return { status: 200, body: { messaging_product: 'whatsapp', contacts, messages: [{ id: message.id }] } };
  }

  // The API answers at once here; the real one may also accept the message and report the failure later.
  #windowProblem({ to, type }: Record<string, unknown>): Failure | null {
    if (type === 'template' || (this.#lastWrote.get(String(to)) ?? 0) > Date.now() - dayMs) return null;
    const details = 'Message failed to send because more than 24 hours have passed since the customer last replied';
    return { status: 400, code: 131_047, message: '(#131047) Re-engagement message', details };
  }
}

/** A customer as webhooks have one. */
export function contactOf(from: string): object {
  return { profile: { name: `Ada No. ${from}` }, wa_id: from };
}

interface Titled {
  title: string;
}

// oxlint-disable-next-line typescript/no-explicit-any
function problemOf(body: Record<string, any>): Failure | null {
  const { type, text, interactive } = body;
  const { buttons = [], sections = [] } = interactive?.action ?? {};
  const titles = buttons.map(({ reply }: { reply: Titled }) => reply);
  const rows = sections.flatMap((section: { rows: Titled[] }) => section.rows);
  const problems = [
    [body['messaging_product'] === 'whatsapp' && hasRecipient(body), 'to is required'],
    [type !== 'text' || /^[^]{1,4096}$/.test(String(text?.body ?? '')), 'text.body: length 1 to 4096'],
    [isShort(titles, 3, 20), 'Button title length invalid'],
    [isShort(rows, 10, 24), 'Row title is too long'],
  ] as const;
  const details = problems.find(([isRight]) => !isRight)?.[1];
  return details === undefined ? null : { status: 400, code: 100, message: '(#100) Invalid parameter', details };
}

function hasRecipient({ to, recipient }: Record<string, unknown>): boolean {
  return Boolean(to ?? recipient);
}

function isShort(list: readonly Titled[], most: number, chars: number): boolean {
  return list.length <= most && list.every(({ title }) => title.length <= chars);
}

function failure({ status, code, message, details }: Failure): Reply {
  const data = details === undefined ? {} : { error_data: { messaging_product: 'whatsapp', details } };
  return { status, body: { error: { message, type: 'OAuthException', code, ...data, fbtrace_id: 'Az8or2yhqkZfEZ' } } };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
