import { createRequire } from 'node:module';
import type { OutboundGate } from './outbound-gate.ts';
import type { createTransport as Create, Transporter } from 'nodemailer';

/** A mail whose purpose is one link. */
export interface Mail {
  to: { name: string; address: string };
  subject: string;
  /** Plain text that contains the link. */
  text: string;
  link: string;
}

/** The log for sent and failed mail. */
interface MailLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** Settings of a mailer; without `smtpUrl`, links are only logged. */
interface MailerOptions {
  smtpUrl: string | null;
  /** The sender's address, with or without a name. */
  from: string | null;
  log: MailLog;
  gate: OutboundGate;
}

const held = 'mail not sent: this service sends nothing';
const connectMs = 10_000;
const inactivityMs = 20_000;

/**
 * Sends mail in the background. If there is no mail server, or it fails, or the gate is held, logs the mail's link, so that the
 * operator can pass the link on.
 */
export class Mailer {
  readonly #transport: Transporter | null;
  readonly #options: MailerOptions;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: MailerOptions) {
    this.#options = options;
    this.#transport = options.smtpUrl === null ? null : openTransport({ url: options.smtpUrl });
  }

  /** Whether there is a mail server. */
  get sends(): boolean {
    return this.#transport !== null;
  }

  /** Begins to send a mail without a link, or logs that it is held; never throws. Does nothing without a mail server. */
  tell(mail: Omit<Mail, 'link'>): void {
    if (this.#transport) this.#begin(this.#transport, mail, {});
  }

  /** Begins to send a mail, or logs its link; never throws. */
  send({ link, ...mail }: Mail): void {
    if (this.#transport) this.#begin(this.#transport, mail, { link });
    else this.#options.log.info({ to: mail.to.address, link }, 'there is no SMTP_URL: pass this link on');
  }

  #begin(transport: Transporter, { to, subject, text }: Omit<Mail, 'link'>, note: { link?: string }): void {
    const { log, gate, from } = this.#options;
    const details = { to: to.address, ...note };
    if (gate.heldFor !== null) return log.info({ ...details, subject }, held);
    const failed = `mail could not be sent${note.link ? ': pass this link on' : ''}`;
    const sending = transport.sendMail({ from: from ?? '', to, subject, text }).then(
      () => log.info({ to: to.address }, 'mail sent'),
      (error: Error) => log.warn({ ...details, reason: error.message }, failed),
    );
    this.#track(sending);
  }

  #track(sending: Promise<void>): void {
    this.#underWay.add(sending);
    void sending.finally(() => this.#underWay.delete(sending));
  }

  /** Waits for mail that is being sent, then closes the connections to the server. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#transport?.close();
  }
}

/** Returns a way to a mail server, with bounds for each step, and for how long it may be silent. It reads no file and no URL that a mail names. */
export function openTransport(options: Record<string, unknown>, silenceMs: number = inactivityMs): Transporter {
  // The library is loaded only where there is a mail server.
  const { createTransport } = createRequire(import.meta.url)('nodemailer') as { createTransport: typeof Create };
  return createTransport({
    ...options,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
