import {
  defineChannel,
  secret,
  type ChannelContext,
  type FetchAnswer,
  type IncomingMessage,
  type OutgoingMessage,
} from 'switchboard/bot';
import { fill, holds, momentOf, textAt, valueAt, type Condition } from './mapping.ts';

/** The settings; plugin.json says what each means. */
interface Config {
  api_url: string;
  incoming: {
    when?: Condition;
    edited?: Condition;
    source_id: string;
    external_id: string;
    content: string;
    name?: string;
    at?: string;
    attachments?: { list: string; url: string; file_name?: string };
  };
  outgoing: {
    path: string;
    method: 'POST' | 'PUT';
    headers: Record<string, unknown>;
    body: Record<string, unknown>;
    external_id?: string;
    success?: Condition;
    reason?: string;
    attachment: Record<string, unknown>;
    refused: number[];
  };
  status?: { when?: Condition; external_id: string; status: string; values?: Record<string, unknown>; reason?: string };
}

type Ctx = ChannelContext<Config>;

const statuses = ['sent', 'delivered', 'read', 'failed'] as const;
const maxFiles = 10;
const longestWait = 86_400;

export default defineChannel<Config>({
  received(ctx, request) {
    const root = request.json ?? request.form;
    if (takeStatus(ctx, root)) return;
    if (!bringIn(ctx, root)) ctx.log.info('This request is no message of a customer');
  },

  async send(ctx, message) {
    const { path, method, headers, body } = ctx.config.outgoing;
    if (message.attachments.length > 0 && !/\{(attachments|links)\}/.test(JSON.stringify(body)))
      throw ctx.channel.refused('The settings have no place for files: put {attachments} or {links} in `body`');
    const values = valuesOf(message);
    const escaped = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, encodeURIComponent(String(value))]),
    );
    const url = ctx.config.api_url.replace(/\/+$/, '') + String(fill(path, escaped));
    const hidden = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerOf(String(value))]));
    const json = fill(body, { ...values, ...filesIn(message, ctx.config.outgoing.attachment) });
    const sent =
      method === 'PUT'
        ? ctx.fetch(url, { method: 'PUT', headers: hidden, body: json })
        : ctx.fetch(url, { method: 'POST', headers: hidden, body: json });
    const answer = await sent.catch((error: unknown) => {
      throw ctx.channel.later(error instanceof Error ? error.message : String(error));
    });
    return { external_id: sentAs(ctx, message, answer) };
  },
});

function takeStatus({ config, channel }: Ctx, root: unknown): boolean {
  const { status: mapping } = config;
  if (!mapping || !holds(root, mapping.when)) return false;
  const [id, word] = [textAt(root, mapping.external_id), textAt(root, mapping.status)];
  const meaning = word === undefined ? undefined : mapping.values ? valueAt(mapping.values, `/${word}`) : word;
  const status = statuses.find((known) => known === meaning);
  if (id === undefined || status === undefined) return false;
  const reason = textAt(root, mapping.reason);
  channel.status({ external_id: id, status, ...(reason === undefined ? {} : { reason }) });
  return true;
}

function bringIn({ config, channel }: Ctx, root: unknown): boolean {
  const { incoming: mapping } = config;
  if (!holds(root, mapping.when)) return false;
  const message = messageIn(root, mapping);
  if (message) channel.incoming(message);
  // Nothing is lost by a mapping that is wrong: the request is tried again, and the settings can be mended meanwhile.
  else if (mapping.when) throw new Error('The request has no customer, no id or no content where the settings say');
  return message !== null;
}

function messageIn(root: unknown, mapping: Config['incoming']): IncomingMessage | null {
  const [source, id] = [textAt(root, mapping.source_id), textAt(root, mapping.external_id)];
  const content = textAt(root, mapping.content) ?? '';
  const files = filesOf(root, mapping.attachments);
  if (source === undefined || id === undefined || (content.trim() === '' && files.length === 0)) return null;
  const [name, at] = [textAt(root, mapping.name), momentOf(textAt(root, mapping.at))];
  return {
    source_id: source,
    external_id: id,
    content,
    edited: mapping.edited !== undefined && holds(root, mapping.edited),
    ...(name === undefined ? {} : { name }),
    ...(at === undefined ? {} : { at }),
    ...(files.length === 0 ? {} : { attachments: files }),
  };
}

function filesOf(root: unknown, mapping: Config['incoming']['attachments']): { url: string; file_name?: string }[] {
  if (!mapping) return [];
  const list = valueAt(root, mapping.list) ?? [];
  return [list]
    .flat()
    .flatMap((file) => {
      const url = textAt(file, mapping.url);
      const name = textAt(file, mapping.file_name);
      return url === undefined ? [] : { url, ...(name === undefined ? {} : { file_name: name }) };
    })
    .slice(0, maxFiles);
}

function valuesOf({ id, content, content_attributes: { items }, source_id, conversation_id, sender }: OutgoingMessage) {
  const titles = Array.isArray(items) ? (items as { title?: unknown }[]).map(({ title }) => `- ${String(title)}`) : [];
  const text = [content, ...titles].join('\n');
  return { id, content: text, source_id, conversation_id, sender: sender?.name ?? '' };
}

// The service fills in the links when it sends the request.
function filesIn({ attachments }: OutgoingMessage, template: Record<string, unknown>) {
  return {
    attachments: attachments.map((file) => fill(template, { ...file })),
    links: attachments.map(({ url }) => url).join('\n'),
  };
}

function headerOf(text: string): string | ReturnType<typeof secret> {
  const [, prefix] = /^(.*)\{API_TOKEN\}$/.exec(text) ?? [];
  return prefix === undefined ? text : secret('API_TOKEN', prefix);
}

function sentAs(ctx: Ctx, { id }: OutgoingMessage, answered: FetchAnswer): string {
  const { external_id: place, success, reason: reasonPlace } = ctx.config.outgoing;
  const answer = parsed(answered.text);
  const reason = textAt(answer, reasonPlace) ?? `The other system answered ${answered.status}`;
  checkStatus(ctx, answered, reason);
  if (!holds(answer, success)) throw ctx.channel.refused(reason);
  const found = textAt(answer, place);
  if (place !== undefined && found === undefined) ctx.log.warn('The answer has no id where the settings say');
  // The message has arrived: without an id it must not be sent again.
  return found === undefined || found === '' ? `message ${id}` : found;
}

function checkStatus({ channel, config, now }: Ctx, { status, headers }: FetchAnswer, reason: string): void {
  if (config.outgoing.refused.includes(status)) throw channel.refused(reason);
  const seconds = waitOf(headers['retry-after'], now);
  if (status === 429 || status === 408 || status >= 500)
    throw channel.later(reason, seconds === undefined ? {} : { seconds });
  if (status < 200 || status >= 300) throw new Error(reason);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function waitOf(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - now.getTime()) / 1_000);
  return seconds > 0 ? Math.min(seconds, longestWait) : undefined;
}
