import { defineChannel, sha256, type ChannelContext } from 'switchboard/bot';
import { textOfHtml } from './html.ts';
import { kindOf, ownId, readReport, replyAddressOf } from './kinds.ts';
import { headerOf, idsIn, threadOf, type Mail } from './mail.ts';
import { mailOf } from './outgoing.ts';
import { readPostmark, readPostmarkStatus, type PostmarkRequest } from './postmark.ts';
import { fold } from './quoted.ts';
import { readSes, type SnsEnvelope } from './ses.ts';

interface Config {
  address: string;
  provider: 'postmark' | 'ses';
}

type Ctx = ChannelContext<Config>;

const maxFiles = 10;

export default defineChannel<Config>({
  received(ctx, request) {
    if (request.name === 'ses') return takeSes(ctx, request.json as SnsEnvelope | null);
    const json = (request.json ?? {}) as PostmarkRequest;
    const isMail = json.RecordType === undefined || json.RecordType === 'Inbound';
    if (isMail) return takeMail(ctx, readPostmark(json), `postmark:${json.MessageID ?? request.id}`);
    const status = readPostmarkStatus(json);
    if (!status) return ctx.log.info(`This ${json.RecordType} changes nothing`);
    const { message, ...change } = status;
    ctx.channel.status({ external_id: `postmark:${json.MessageID ?? request.id}`, message_id: message, ...change });
  },

  async send(ctx, message) {
    const { address, provider } = ctx.config;
    // The same each time: a mail that is sent twice is known to be the same.
    const hash = await sha256(`${ctx.account?.id} ${message.id} ${message.created_at} ${message.source_id}`);
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
  if (code === 'mail_refused' || error instanceof TypeError) return ctx.channel.refused(error.message);
  // Settings of the server are wrong: the messages wait, and the inbox shows why.
  return code === 'mail_server' ? new Error(error.message) : ctx.channel.later(error.message);
}

function takeSes(ctx: Ctx, envelope: SnsEnvelope | null): void {
  const found = readSes(envelope, ctx.config.address);
  if ('mail' in found) return takeMail(ctx, found.mail, found.id);
  if ('status' in found) return ctx.channel.status(found.status);
  ctx.log.info(found.why);
}

function takeMail(ctx: Ctx, mail: Mail, fallbackId: string): void {
  const { address } = ctx.config;
  const kind = kindOf(mail, address);
  if (kind === 'own' || !mail.from) return ctx.log.info('A mail of the inbox itself, or without a sender, is left out');
  if (kind === 'report') return takeReport(ctx, mail);
  const { text, quoted } = fold(mail.text.trim() === '' ? textOfHtml(mail.html) : mail.text);
  const thread = threadOf(mail);
  const files = mail.files.slice(0, maxFiles);
  const left = mail.files.slice(maxFiles).map(({ file_name: name }) => `(${name}: more than ${maxFiles} files)`);
  const replyTo = replyAddressOf(mail);
  ctx.channel.incoming({
    source_id: mail.from.address,
    external_id: idsIn(mail, 'message-id')[0] ?? fallbackId,
    content: [...(thread.length === 0 ? [mail.subject] : []), text, ...left].filter(Boolean).join('\n\n'),
    name: mail.from.name ?? mail.from.address,
    email: mail.from.address,
    thread,
    ...(kind === 'automatic' ? { automatic: true } : {}),
    mail: {
      subject: mail.subject.slice(0, 500),
      references: idsIn(mail, 'references').slice(-20),
      ...(replyTo === undefined ? {} : { reply_to: replyTo }),
      ...(quoted === '' ? {} : { quoted: quoted.slice(0, 20_000) }),
    },
    ...(files.length === 0 ? {} : { attachments: files }),
  });
}

function takeReport(ctx: Ctx, mail: Mail): void {
  const bounce = readReport(mail, ctx.config.address);
  if (bounce) return ctx.channel.status({ external_id: bounce.id, status: 'failed', reason: bounce.reason });
  ctx.log.info(
    `A report of another mail, or of a delay, changes nothing: ${headerOf(mail, 'message-id').slice(0, 200)}`,
  );
}
