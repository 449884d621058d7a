import { openTransport } from '../lib/mail.ts';
import type { OutboundGate } from '../lib/outbound-gate.ts';
import type { AddressPolicy } from './addresses.ts';
import type { HostResolver } from './host-resolver.ts';
import { hostOf, isAddress } from './url.ts';

/** A mail of a channel, with its files in memory. */
export interface ChannelMail {
  from: string;
  to: string;
  subject: string;
  text: string;
  messageId: string;
  inReplyTo: string | null;
  references: readonly string[];
  headers: Readonly<Record<string, string>>;
  files: readonly { name: string; type: string; bytes: Buffer }[];
}

/** The inbox that sends, and how. */
export interface MailSending {
  accountId: number;
  /** The URL of the inbox's own server; null for the server of the service. */
  server: string | null;
  signal: AbortSignal;
  /** Called once the server has the whole mail: from then on, it may arrive. */
  wentOut: () => void;
}

/**
 * Why a mail was not sent: `refused` for good, `server` for settings that are wrong, `failed` for now; `unknown` when the server had
 * the whole mail and did not answer.
 */
export class MailError extends Error {
  override name = 'MailError';
  readonly kind: 'refused' | 'server' | 'failed' | 'unknown';

  constructor(kind: MailError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

type Transport = ReturnType<typeof openTransport>;

interface ChannelMailOptions {
  /** The server of the service; null without one. */
  smtpUrl: string | null;
  /** The sender of the service's own mail; null without one. */
  serviceFrom: string | null;
  /** Accounts and the domains whose mail they send by the server of the service, as `7:example.com`. */
  domains: readonly string[];
  gate: OutboundGate;
  policy: AddressPolicy;
  resolver: HostResolver;
}

/** Codes of the library for settings that no later attempt would change. */
const settingCodes = new Set(['EAUTH', 'ENOAUTH', 'ETLS', 'EOAUTH2']);
/** Servers judge a mail before they answer; shorter than the longest run, so that the channel hears of it. */
const silenceMs = 50_000;
/** Headers of mail by the server of the service: others could tell it what to do. */
const servedHeaders =
  /^(auto-submitted|precedence|x-auto-response-suppress|x-pm-keepid|x-pm-metadata-[a-z0-9-]{1,50})$/;

/**
 * Sends mail of channels, by the server of the service for the accounts and domains that the operator has named, or by a server of the
 * inbox, at addresses that plugins may call only.
 */
export class ChannelMailer {
  readonly #options: ChannelMailOptions;

  constructor(options: ChannelMailOptions) {
    this.#options = options;
  }

  /** Sends a mail. Resolves when a server has taken it. Errors: MailError. */
  async send(mail: ChannelMail, { accountId, server, signal, wentOut }: MailSending): Promise<void> {
    if (this.#options.gate.heldFor !== null) throw new MailError('failed', this.#options.gate.heldFor);
    const transport = server === null ? this.#openService(mail, accountId) : await this.#openServer(server);
    let isOut = false;
    transport.use('stream', (sent, callback) => {
      sent.message.processFunc((bytes) =>
        bytes.once('end', () => {
          isOut = true;
          wentOut();
        }),
      );
      callback();
    });
    try {
      await transport.sendMail({ ...optionsOf(mail), signal });
    } catch (error) {
      throw mailErrorOf(error, isOut);
    } finally {
      transport.close();
    }
  }

  // The server trusts the service: an account sends as itself only, and tells the server nothing.
  #openService({ from, headers }: ChannelMail, accountId: number): Transport {
    const { smtpUrl, domains, serviceFrom } = this.#options;
    const address = from.toLowerCase();
    const entry = `${accountId}:${address.slice(address.lastIndexOf('@') + 1)}`;
    if (smtpUrl === null || !domains.includes(entry))
      throw new MailError('server', `The inbox has no mail server, and CHANNEL_MAIL_DOMAINS does not list ${entry}`);
    if (address === addressIn(serviceFrom ?? ''))
      throw new MailError('server', 'The inbox has no mail server, and its address is that of MAIL_FROM');
    const other = Object.keys(headers).find((name) => !servedHeaders.test(name));
    if (other !== undefined) throw new MailError('refused', `The mail server of the service sends no header ${other}`);
    return openTransport({ url: smtpUrl }, silenceMs);
  }

  // The connection goes to the address that was judged: a name could lead elsewhere a moment later.
  async #openServer(text: string): Promise<Transport> {
    const url = URL.parse(text);
    if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '')
      throw new MailError('server', 'The URL of the mail server must be like smtps://user:password@host:465');
    const secure = url.protocol === 'smtps:';
    const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port);
    const host = await this.#findAddress(hostOf(url), port);
    const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    const options = {
      host,
      port,
      secure,
      ...(user === '' ? {} : { auth: { user, pass } }),
      // Without encryption, user and password could be read on the way.
      ...(secure || user === '' ? {} : { requireTLS: true }),
      tls: isAddress(hostOf(url)) ? {} : { servername: hostOf(url) },
    };
    return openTransport(options, silenceMs);
  }

  async #findAddress(host: string, port: number): Promise<string> {
    const { resolver, policy } = this.#options;
    const answer = isAddress(host) ? { addresses: [host] } : await resolver.resolve(host);
    if ('problem' in answer) throw new MailError('failed', `The mail server was not found: ${answer.problem}`);
    const address = answer.addresses.find((one) => policy.allows(one, port));
    if (address !== undefined) return address;
    throw new MailError('server', 'The address of the mail server may not be called');
  }
}

// The sender may have a name: `Support <support@example.com>`.
function addressIn(sender: string): string {
  return (/[^\s<>]+@[^\s<>]+/.exec(sender)?.[0] ?? '').toLowerCase();
}

function optionsOf({
  from,
  to,
  files,
  references,
  headers,
  inReplyTo,
  ...mail
}: ChannelMail): Parameters<Transport['sendMail']>[0] {
  return {
    ...mail,
    from: { name: '', address: from },
    to: { name: '', address: to },
    envelope: { from, to: [to] },
    references: [...references],
    headers: { ...headers },
    ...(inReplyTo === null ? {} : { inReplyTo }),
    attachments: files.map(({ name, type, bytes }) => ({ filename: name, contentType: type, content: bytes })),
  };
}

function mailErrorOf(error: unknown, isOut: boolean): MailError {
  const { message, code, responseCode, response } = error as Error & {
    code?: string;
    responseCode?: number;
    response?: string;
  };
  const words = (response ?? message).slice(0, 500);
  if (settingCodes.has(code ?? ''))
    return new MailError('server', `The mail server does not accept the login: ${words}`);
  // Without a number, the server has answered nothing.
  if (responseCode === undefined)
    return new MailError(isOut ? 'unknown' : code === 'EMESSAGE' ? 'refused' : 'failed', words);
  return new MailError(responseCode >= 500 && responseCode < 600 ? 'refused' : 'failed', words);
}
