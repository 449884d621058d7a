import { createRequire } from 'node:module';
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
export interface MailLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

const connectMs = 10_000;
const inactivityMs = 20_000;

/**
 * Sends mail in the background. If there is no mail server, or it fails, logs the mail's link, so that the operator can
 * pass the link on.
 */
export class Mailer {
  readonly #transport: Transporter | null;
  readonly #from: string;
  readonly #log: MailLog;
  readonly #underWay = new Set<Promise<void>>();

  /** Without `smtpUrl`, links are only logged. `from` is the sender's address, with or without a name. */
  constructor({ smtpUrl, from, log }: { smtpUrl: string | null; from: string | null; log: MailLog }) {
    this.#from = from ?? '';
    this.#log = log;
    this.#transport = smtpUrl === null ? null : openTransport(smtpUrl);
  }

  /** Whether there is a mail server. */
  get sends(): boolean {
    return this.#transport !== null;
  }

  /** Begins to send a mail without a link; never throws. Does nothing without a mail server. */
  tell({ to, subject, text }: Omit<Mail, 'link'>): void {
    if (!this.#transport) return;
    this.#track(
      this.#transport.sendMail({ from: this.#from, to, subject, text }).then(
        () => this.#log.info({ to: to.address }, 'mail sent'),
        (error: unknown) => this.#log.warn({ to: to.address, reason: reasonOf(error) }, 'mail could not be sent'),
      ),
    );
  }

  /** Begins to send a mail, or logs its link; never throws. */
  send(mail: Mail): void {
    const { to, link } = mail;
    if (!this.#transport) {
      this.#log.info({ to: to.address, link }, 'there is no SMTP_URL: pass this link on');
      return;
    }
    const sending = this.#transport.sendMail({ from: this.#from, to, subject: mail.subject, text: mail.text }).then(
      () => this.#log.info({ to: to.address }, 'mail sent'),
      (error: unknown) => {
        this.#log.warn({ to: to.address, link, reason: reasonOf(error) }, 'mail could not be sent: pass this link on');
      },
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

function openTransport(url: string): Transporter {
  // The library is loaded only where there is a mail server.
  const { createTransport } = createRequire(import.meta.url)('nodemailer') as { createTransport: typeof Create };
  return createTransport({
    url,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    socketTimeout: inactivityMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
