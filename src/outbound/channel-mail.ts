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

/** Why a mail was not sent: `refused` for good, `server` for settings that are wrong, `failed` for now. */
export class MailError extends Error {
  override name = 'MailError';
  readonly kind: 'refused' | 'server' | 'failed';

  constructor(kind: MailError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

type Transport = ReturnType<typeof openTransport>;

interface ChannelMailOptions {
  /** The server of the service; null without one. */
  smtpUrl: string | null;
  /** Domains whose mail goes by the server of the service. */
  domains: readonly string[];
  gate: OutboundGate;
  policy: AddressPolicy;
  resolver: HostResolver;
}

/** Codes of the library for settings that no later attempt would change. */
const settingCodes = new Set(['EAUTH', 'ENOAUTH', 'ETLS', 'EOAUTH2']);

/**
 * Sends mail of channels, by the server of the service for the domains that the operator has named, or by a server of the inbox, at
 * addresses that plugins may call only.
 */
export class ChannelMailer {
  readonly #options: ChannelMailOptions;
  readonly #own: Transport | null;

  constructor(options: ChannelMailOptions) {
    this.#options = options;
    this.#own = options.smtpUrl === null ? null : openTransport({ url: options.smtpUrl });
  }

  /** Sends a mail; `server` is the URL of the inbox's own server. Resolves when a server has taken it. Errors: MailError. */
  async send(mail: ChannelMail, server: string | null, signal: AbortSignal): Promise<void> {
    if (this.#options.gate.heldFor !== null) throw new MailError('failed', this.#options.gate.heldFor);
    const transport = server === null ? this.#serviceFor(mail.from) : await this.#openServer(server);
    try {
      signal.throwIfAborted();
      await transport.sendMail(optionsOf(mail));
    } catch (error) {
      throw mailErrorOf(error);
    } finally {
      if (server !== null) transport.close();
    }
  }

  /** Closes the connections to the server of the service. */
  close(): void {
    this.#own?.close();
  }

  #serviceFor(from: string): Transport {
    const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
    if (this.#own && this.#options.domains.includes(domain)) return this.#own;
    throw new MailError('server', `The inbox has no mail server, and CHANNEL_MAIL_DOMAINS does not list ${domain}`);
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
    return openTransport({
      host,
      port,
      secure,
      ...(user === '' ? {} : { auth: { user, pass } }),
      // Without encryption, user and password could be read on the way.
      ...(secure || user === '' ? {} : { requireTLS: true }),
      tls: isAddress(hostOf(url)) ? {} : { servername: hostOf(url) },
    });
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

function mailErrorOf(error: unknown): MailError {
  const { message, code, responseCode, response } = error as Error & {
    code?: string;
    responseCode?: number;
    response?: string;
  };
  const words = (response ?? message).slice(0, 500);
  if (settingCodes.has(code ?? ''))
    return new MailError('server', `The mail server does not accept the login: ${words}`);
  const isFinal = responseCode !== undefined && responseCode >= 500 && responseCode < 600;
  return new MailError(isFinal || code === 'EMESSAGE' ? 'refused' : 'failed', words);
}
