import { defineChannel, sha256, type ChannelContext, type MailDetails } from 'switchboard/bot';
import { cut } from './cut.ts';
import { textOfHtml } from './html.ts';
import { kindOf, ownHash, ownId, readReport, replyAddressOf, type ReplyAddress } from './kinds.ts';
import { headerOf, idsIn, isContactEmail, threadOf, type Mail, type MailFile } from './mail.ts';
import { mailOf, recipientOf } from './outgoing.ts';
import { readPostmark, readPostmarkStatus, type PostmarkRequest } from './postmark.ts';
import { fold } from './quoted.ts';
import { readSes, type SnsEnvelope } from './ses.ts';

interface Config {
  address: string;
  provider: 'postmark' | 'ses';
}

type Ctx = ChannelContext<Config>;

const secretKey = 'id secret';
/** Digits of the hash in an id that are of the message; those after them are of its recipient. */
const startLength = 12;
const [maxFiles, maxContent, maxReason, maxId] = [10, 20_000, 900, 255];
const longer = '\n\n(The mail is longer: the rest is left out)';

export default defineChannel<Config>({
  received(ctx, request) {
    if (request.name === 'ses') return takeSes(ctx, request.json as SnsEnvelope | null);
    const json = (request.json ?? {}) as PostmarkRequest;
    const isMail = json.RecordType === undefined || json.RecordType === 'Inbound';
    if (isMail) return takeMail(ctx, readPostmark(json), `postmark:${json.MessageID ?? request.id}`);
    const status = readPostmarkStatus(json, ctx.config.address);
    if (!status) return ctx.log.info(`This ${json.RecordType} changes nothing`);
    const { message, sentTo, ...change } = status;
    const known = { external_id: `postmark:${json.MessageID ?? request.id}`, message_id: message, ...change };
    return takeStatus(ctx, known, sentTo);
  },

  async send(ctx, message) {
    const { address, provider } = ctx.config;
    const secret = await ctx.storage.installation.get<string>(secretKey);
    if (secret === null) {
      await ctx.storage.installation.set(secretKey, crypto.randomUUID());
      // It is kept for good before a mail depends on it.
      throw ctx.channel.later('The inbox has just made its secret', { progress: true });
    }
    // The same each time: a mail that is sent twice is known to be the same.
    const whole = await sha256(`${secret} ${ctx.account?.id} ${message.id} ${message.created_at} ${message.source_id}`);
    const start = whole.slice(0, startLength);
    const hash = start + (await recipientMark(secret, start, recipientOf(message)));
    const id = ownId({ message: message.id, hash, address });
    try {
      await ctx.mail.send(mailOf(message, { id, address, provider }));
    } catch (error) {
      throw whyUnsent(ctx, error);
    }
    return { external_id: id };
  },
});

function whyUnsent(ctx: Ctx, error: unknown): Error {
  if (!(error instanceof Error)) return ctx.channel.later(String(error));
  const { code } = error as Error & { code?: string };
  if (code === 'mail_refused' || code === 'bad_request' || error instanceof TypeError)
    return ctx.channel.refused(error.message);
  // Settings of the server are wrong: the messages wait, and the inbox shows why.
  return code === 'mail_server' ? new Error(error.message) : ctx.channel.later(error.message);
}

function takeSes(ctx: Ctx, envelope: SnsEnvelope | null): void | Promise<void> {
  const found = readSes(envelope, ctx.config.address);
  if ('mail' in found) return takeMail(ctx, found.mail, found.id);
  if ('status' in found) return takeStatus(ctx, found.status, found.sentTo);
  ctx.log.info(found.why);
}

function takeMail(ctx: Ctx, mail: Mail, fallbackId: string): void | Promise<void> {
  const { address } = ctx.config;
  const kind = kindOf(mail, address);
  if (kind === 'own' || !mail.from) return ctx.log.info('A mail of the inbox itself, or without a sender, is left out');
  if (kind === 'report') return takeReport(ctx, mail);
  const { text, quoted } = fold(mail.text.trim() === '' ? textOfHtml(mail.html) : mail.text);
  const thread = threadOf(mail);
  const files = mail.files.slice(0, maxFiles);
  const left = mail.files.slice(maxFiles).map(({ file_name: name }) => `(${name}: more than ${maxFiles} files)`);
  const titles = thread.length === 0 ? [mail.subject] : [];
  const replyTo = replyAddressOf(mail);
  const customer = mail.from.address;
  const id = cut(idsIn(mail, 'message-id')[0] ?? fallbackId, maxId);
  ctx.channel.incoming({
    source_id: customer,
    external_id: id,
    content: contentOf([...titles, text, ...left]),
    ...profileOf(mail.from),
    thread,
    ...(kind === 'automatic' ? { automatic: true } : {}),
    mail: detailsOf(mail, { replyTo, quoted }),
    ...(files.length === 0 ? {} : { attachments: files.map(withFittingName) }),
  });
  if (replyTo?.isTrusted === false && kind === 'personal') noteAddress(ctx, { replyTo, customer, id });
}

function profileOf({ address, name = address }: NonNullable<Mail['from']>): { name: string; email?: string } {
  return { name: cut(name, 255), ...(isContactEmail(address) ? { email: address } : {}) };
}

function detailsOf(mail: Mail, { replyTo, quoted }: { replyTo: ReplyAddress | null; quoted: string }): MailDetails {
  return {
    subject: cut(mail.subject, 500),
    references: idsIn(mail, 'references').slice(-20),
    ...(replyTo?.isTrusted ? { reply_to: replyTo.address } : {}),
    ...(quoted === '' ? {} : { quoted: cut(quoted, maxContent) }),
  };
}

function withFittingName(file: MailFile): MailFile {
  return { ...file, file_name: cut(file.file_name, 255) };
}

function contentOf(parts: readonly string[]): string {
  const content = parts.filter(Boolean).join('\n\n');
  return content.length > maxContent ? cut(content, maxContent - longer.length) + longer : cut(content, maxContent);
}

// A private note, which joins the conversation of the mail.
function noteAddress(
  ctx: Ctx,
  { replyTo, customer, id }: { replyTo: ReplyAddress; customer: string; id: string },
): void {
  ctx.channel.incoming({
    source_id: customer,
    external_id: cut(`reply-to:${id}`, maxId),
    content: `This mail asks for answers to ${replyTo.address}, which may not be the sender's address. They go to ${customer}.`,
    thread: [id],
    automatic: true,
  });
}

function takeReport(ctx: Ctx, mail: Mail): void | Promise<void> {
  const bounce = readReport(mail, ctx.config.address);
  if (bounce) {
    const { id, reason, recipients } = bounce;
    return takeStatus(ctx, { external_id: id, status: 'failed', reason }, recipients);
  }
  ctx.log.info(
    `A report of another mail, or of a delay, changes nothing: ${headerOf(mail, 'message-id').slice(0, 200)}`,
  );
}

type StatusChange = Parameters<Ctx['channel']['status']>[0];

// An id alone proves nothing: whoever has got a mail of the conversation knows it.
async function takeStatus(ctx: Ctx, change: StatusChange, sentTo: readonly string[]): Promise<void> {
  const { reason, ...rest } = change;
  if (await wasSentTo(ctx, change.external_id, sentTo))
    return ctx.channel.status({ ...rest, ...(reason === undefined ? {} : { reason: cut(reason, maxReason) }) });
  ctx.log.info(`A notice names no recipient of the mail, and changes nothing: ${change.external_id}`);
}

async function wasSentTo(ctx: Ctx, id: string, recipients: readonly string[]): Promise<boolean> {
  const secret = await ctx.storage.installation.get<string>(secretKey);
  if (secret === null) return false;
  const hash = ownHash(id);
  const [start, mark] = [hash.slice(0, startLength), hash.slice(startLength)];
  const marks = await Promise.all(recipients.map((one) => recipientMark(secret, start, one)));
  return marks.includes(mark);
}

// It cannot be made without the secret, so that an id tells nobody its recipient.
async function recipientMark(secret: string, start: string, recipient: string): Promise<string> {
  return (await sha256(`${secret} ${start} ${recipient.toLowerCase()}`)).slice(0, startLength);
}
