import { defineChannel, secret, type ChannelContext, type FetchAnswer } from 'switchboard/bot';
import { inPart, isOurs } from './callback-data.ts';
import { reasonOf, troubleOf, type ApiError } from './errors.ts';
import { partsOf, type Part } from './parts.ts';
import {
  fileOf,
  nameOf,
  readWebhook,
  textOf,
  type CustomerMessage,
  type Webhook,
  type WhatsAppStatus,
} from './webhooks.ts';

interface Config {
  api_url: string;
  phone_number_id: string;
}

type Ctx = ChannelContext<Config>;

/** An answer of the Cloud API. */
interface Answer {
  messages?: { id?: string }[];
  id?: string;
  url?: string;
  error?: ApiError;
}

/** Requests and files of a run at most. */
const [requestsPerRun, filesPerRun] = [10, 10];
const mediaHost = 'lookaside.fbsbx.com';
const statuses = ['sent', 'delivered', 'read', 'failed'] as const;

export default defineChannel<Config>({
  async received(ctx, request) {
    const found = readWebhook(request.json as Webhook | null, ctx.config.phone_number_id);
    let files = 0;
    for (const message of found.messages) {
      files += fileOf(message.message) ? 1 : 0;
      await bringIn(ctx, message, files <= filesPerRun);
    }
    for (const status of found.statuses) takeStatus(ctx, status);
    if (found.messages.length + found.statuses.length === 0) ctx.log.info('This webhook is about something else');
  },

  async send(ctx, message) {
    const parts = readParts(ctx, message);
    const key = `sent ${message.id}`;
    // Parts that an earlier attempt has sent.
    const before = await ctx.storage.get<{ count: number; last: string }>(key);
    let [count, last] = [before?.count ?? 0, before?.last ?? ''];
    let requests = 0;
    for (const part of parts.slice(count)) {
      requests += part.file ? 2 : 1;
      if (requests > requestsPerRun) throw ctx.channel.later('The message goes on', { seconds: 1, progress: true });
      const data = inPart({ message: message.id, part: count + 1, of: parts.length });
      last = await sendPart(ctx, { to: message.source_id, part, data });
      count += 1;
      // However this run ends, what it has sent is not sent again.
      if (count < parts.length) await ctx.storage.set(key, { count, last }, { ttl: 172_800 });
    }
    // A message that failed after all may be sent again as a whole.
    if (parts.length > 1) await ctx.storage.delete(key);
    return { external_id: last };
  },
});

async function bringIn(ctx: Ctx, customer: CustomerMessage, mayFetch: boolean): Promise<void> {
  const { message, sourceId, name, phoneNumber } = customer;
  const file = fileOf(message);
  const got = file && (mayFetch ? await findFile(ctx, file) : { problem: `(${file.kind}: too many files at once)` });
  const at = Number(message.timestamp);
  ctx.channel.incoming({
    source_id: sourceId,
    external_id: message.id,
    content: [textOf(message), ...(got && 'problem' in got ? [got.problem] : [])].filter(Boolean).join('\n'),
    ...(Number.isSafeInteger(at) && at > 0 ? { at } : {}),
    ...(name === undefined ? {} : { name }),
    ...(phoneNumber === undefined ? {} : { phone_number: phoneNumber }),
    ...(got && file && 'url' in got
      ? { attachments: [{ url: got.url, file_name: nameOf(file), headers: { authorization: bearerText } }] }
      : {}),
  });
}

const bearer = { authorization: secret('ACCESS_TOKEN', 'Bearer ') };
const bearerText = `Bearer ${String(secret('ACCESS_TOKEN'))}`;

// The URL of a file serves for five minutes: it is asked for when the file is fetched.
async function findFile(
  ctx: Ctx,
  file: NonNullable<ReturnType<typeof fileOf>>,
): Promise<{ url: string } | { problem: string }> {
  const url = `${baseOf(ctx)}/${encodeURIComponent(file.id)}?phone_number_id=${encodeURIComponent(ctx.config.phone_number_id)}`;
  const { fetch } = ctx;
  const { answer } = await ask(ctx, fetch(url, { headers: bearer })).catch((error: unknown) => {
    // A file that Meta does not give out any more is named, and the message comes in.
    if (error instanceof Refused) return { answer: withError(error.message) };
    throw error;
  });
  const place = answer.url === undefined ? null : URL.parse(answer.url);
  if (answer.url !== undefined && place && isMediaHost(ctx, place.host)) return { url: answer.url };
  return { problem: `(${file.filename ?? file.kind}: ${answer.error?.message ?? 'not available'})` };
}

function withError(message: string): Answer {
  return { error: { message } };
}

function isMediaHost(ctx: Ctx, host: string): boolean {
  return host === mediaHost || host === URL.parse(ctx.config.api_url)?.host;
}

function takeStatus(ctx: Ctx, { id, status, errors, biz_opaque_callback_data: data }: WhatsAppStatus): void {
  const known = statuses.find((one) => one === status);
  const ours = isOurs(data);
  // Messages that were sent from elsewhere, and statuses that are new.
  if (!known || !ours) return;
  // The parts before the last have no say but that they failed.
  if (ours.part < ours.of && known !== 'failed') return;
  const reason = known === 'failed' ? { reason: reasonOf(errors?.[0]) } : {};
  ctx.channel.status({ external_id: id, status: known, message_id: ours.message, ...reason });
}

function readParts(ctx: Ctx, message: Parameters<typeof partsOf>[0]): Part[] {
  try {
    return partsOf(message);
  } catch (error) {
    throw ctx.channel.refused(error instanceof Error ? error.message : String(error));
  }
}

async function sendPart(ctx: Ctx, { to, part, data }: { to: string; part: Part; data: string }): Promise<string> {
  const { body, file } = part;
  const media = file ? { [body.type]: { ...(body[body.type] as object), id: await upload(ctx, file) } } : {};
  const content = {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    // Customers who hide their number have an id with a country and a dot.
    ...(/^\d+$/.test(to) ? { to } : { recipient: to }),
    ...body,
    ...media,
    biz_opaque_callback_data: data,
  };
  const { answer } = await post(ctx, 'messages', { body: content });
  const id = answer.messages?.[0]?.id;
  if (id === undefined) throw ctx.channel.refused('WhatsApp did not answer with the id of the message');
  return id;
}

async function upload(ctx: Ctx, { id, name, type }: NonNullable<Part['file']>): Promise<string> {
  const form = { messaging_product: 'whatsapp', type, file: { file: id, name } };
  const { answer } = await post(ctx, 'media', { form });
  if (answer.id === undefined) throw ctx.channel.later('WhatsApp did not answer with the id of the file');
  return answer.id;
}

type Content = { body: unknown } | { form: Record<string, string | { file: number; name: string }> };

async function post(ctx: Ctx, path: 'messages' | 'media', content: Content): Promise<{ answer: Answer }> {
  const url = `${baseOf(ctx)}/${encodeURIComponent(ctx.config.phone_number_id)}/${path}`;
  const { fetch } = ctx;
  try {
    return await ask(
      ctx,
      'form' in content
        ? fetch(url, { method: 'POST', headers: bearer, form: content.form })
        : fetch(url, { method: 'POST', headers: bearer, body: content.body }),
    );
  } catch (error) {
    if (error instanceof Refused) throw ctx.channel.refused(error.message);
    throw error;
  }
}

/** WhatsApp refuses this request for good. */
class Refused extends Error {}

async function ask(ctx: Ctx, request: Promise<FetchAnswer>): Promise<{ answer: Answer }> {
  const answered = await request.catch((error: unknown) => {
    throw ctx.channel.later(error instanceof Error ? error.message : String(error));
  });
  const answer = readAnswer(ctx, answered);
  const trouble = troubleOf(answered, answer.error);
  if (trouble === null) return { answer };
  if (trouble.kind === 'later') throw ctx.channel.later(trouble.reason, { seconds: trouble.seconds });
  // Messages wait until the inbox has another token.
  if (trouble.kind === 'token') throw new Error(`WhatsApp does not accept the access token: ${trouble.reason}`);
  throw new Refused(trouble.reason);
}

function readAnswer(ctx: Ctx, answered: FetchAnswer): Answer {
  try {
    return answered.json() as Answer;
  } catch {
    throw ctx.channel.later(`WhatsApp answered ${answered.status} without JSON`);
  }
}

function baseOf({ config }: Pick<Ctx, 'config'>): string {
  return config.api_url.replace(/\/+$/, '');
}
