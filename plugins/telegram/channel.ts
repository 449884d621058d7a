import { defineChannel, secret, type ChannelContext } from 'switchboard/bot';
import { partsOf, type Part } from './parts.ts';
import { externalId, fileOf, nameOf, readUpdate, textOf, type Update } from './updates.ts';

interface Config {
  api_url: string;
}

/** An answer of the Bot API. */
interface Answer {
  ok: boolean;
  result?: { message_id?: number; file_path?: string; url?: string };
  description?: string;
  parameters?: { retry_after?: number };
}

/** The content of a request. */
interface Content {
  body?: unknown;
  form?: Part['fields'];
}

/** Requests of a run at most, less one for safety: a longer message is sent by several runs. */
const partsPerRun = 9;

/** Stands for the token in URLs: only the service knows it. */
const token = String(secret('BOT_TOKEN'));

export default defineChannel<Config>({
  async received(ctx, request) {
    const found = readUpdate(request.json as Update);
    if (!found) return ctx.log.info('This update is not a message of a customer');
    const { message, isEdit } = found;
    const file = fileOf(message);
    const got = file && !isEdit ? await urlOf(ctx, file) : null;
    const name = nameOf(message);
    ctx.channel.incoming({
      source_id: String(message.chat.id),
      external_id: externalId(message.chat.id, message.message_id),
      content: [textOf(message), ...(got && 'problem' in got ? [got.problem] : [])].filter(Boolean).join('\n'),
      at: message.date,
      ...(name === undefined ? {} : { name }),
      ...(isEdit ? { edited: true } : {}),
      ...(got && 'url' in got ? { attachments: [{ url: got.url, file_name: got.name }] } : {}),
    });
  },

  async send(ctx, message) {
    const parts = partsOf(message);
    const key = `sent ${message.id}`;
    // Parts that an earlier attempt has sent.
    const before = await ctx.storage.get<{ count: number; last: number }>(key);
    let [count, last] = [before?.count ?? 0, before?.last ?? 0];
    const keep = async (): Promise<void> => ctx.storage.set(key, { count, last }, { ttl: 172_800 });
    for (const part of parts.slice(count)) {
      if (count - (before?.count ?? 0) >= partsPerRun)
        throw ctx.channel.later('The rest of the message follows', { seconds: 1, progress: true });
      last = await sendPart(ctx, message.source_id, part);
      count += 1;
      // However this run ends, what it has sent is not sent again.
      if (count < parts.length) await keep();
    }
    return { external_id: externalId(message.source_id, last) };
  },

  async check(ctx) {
    const { status, answer } = await ask(ctx, 'getWebhookInfo');
    if (answer.ok) return { webhook_url: answer.result?.url || null };
    throw failureOf(ctx, status, answer);
  },
});

async function sendPart(ctx: ChannelContext<Config>, chat: string, { method, fields }: Part): Promise<number> {
  const isForm = method !== 'sendMessage';
  const content = { chat_id: chat, ...fields };
  const { result } = await call(ctx, method, isForm ? { form: content } : { body: content });
  return result?.message_id ?? 0;
}

async function call(ctx: ChannelContext<Config>, method: Part['method'], content: Content): Promise<Answer> {
  const { status, answer } = await ask(ctx, method, content);
  if (answer.ok) return answer;
  throw failureOf(ctx, status, answer);
}

function failureOf({ channel }: Pick<ChannelContext<Config>, 'channel'>, status: number, answer: Answer): Error {
  const reason = answer.description ?? `Telegram answered ${status}`;
  if (status === 429) return channel.later(reason, { seconds: answer.parameters?.retry_after ?? 1 });
  // A token that is revoked: messages wait until the inbox has another one.
  if (status === 401 || status === 404) return new Error(`Telegram does not accept the bot token: ${reason}`);
  return status >= 400 && status < 500 ? channel.refused(reason) : channel.later(reason);
}

async function ask(
  ctx: ChannelContext<Config>,
  path: string,
  content?: Content,
): Promise<{ status: number; answer: Answer }> {
  const url = `${baseOf(ctx)}/bot${token}/${path}`;
  const answered = await fetchFrom(ctx, url, content).catch((error: unknown) => {
    throw ctx.channel.later(error instanceof Error ? error.message : String(error));
  });
  try {
    return { status: answered.status, answer: answered.json() as Answer };
  } catch {
    throw ctx.channel.later(`Telegram answered ${answered.status} without JSON`);
  }
}

function fetchFrom(
  { fetch }: Pick<ChannelContext<Config>, 'fetch'>,
  url: string,
  { body, form }: Content = {},
): ReturnType<ChannelContext<Config>['fetch']> {
  if (form) return fetch(url, { method: 'POST', form });
  return body === undefined ? fetch(url) : fetch(url, { method: 'POST', body });
}

async function urlOf(
  ctx: ChannelContext<Config>,
  { id, name }: { id: string; name: string | null },
): Promise<{ url: string; name: string } | { problem: string }> {
  const { status, answer } = await ask(ctx, `getFile?file_id=${encodeURIComponent(id)}`);
  const path = answer.result?.file_path;
  if (path !== undefined) {
    return { url: `${baseOf(ctx)}/file/bot${token}/${path}`, name: name ?? path.split('/').at(-1) ?? path };
  }
  // Files of more than 20 MB stay with Telegram.
  if (status === 400) return { problem: `(${name ?? 'file'}: ${answer.description ?? 'not available'})` };
  throw ctx.channel.later(answer.description ?? `Telegram answered ${status}`);
}

function baseOf({ config }: ChannelContext<Config>): string {
  return config.api_url.replace(/\/+$/, '');
}
