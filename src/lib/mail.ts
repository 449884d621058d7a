import { createTransport, type Transporter } from 'nodemailer';

/** A mail with one link that matters. */
export interface Mail {
  to: { name: string; address: string };
  subject: string;
  /** Plain text, the link in it. */
  text: string;
  link: string;
}

/** Where the mailer tells what became of mail. */
export interface MailLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

const connectMs = 10_000;
const silenceMs = 20_000;

/**
 * Sends mail in the background. What cannot be sent, because there is no server or it refuses, is told in the log with its
 * link, so that the operator can pass that on.
 */
export class Mailer {
  readonly #transport: Transporter | null;
  readonly #from: string;
  readonly #log: MailLog;
  readonly #underWay = new Set<Promise<void>>();

  /** Without `smtpUrl` nothing is sent. `from` is the sender, an address with or without a name. */
  constructor({ smtpUrl, from, log }: { smtpUrl: string | null; from: string | null; log: MailLog }) {
    this.#from = from ?? '';
    this.#log = log;
    this.#transport =
      smtpUrl === null
        ? null
        : createTransport({
            url: smtpUrl,
            connectionTimeout: connectMs,
            greetingTimeout: connectMs,
            dnsTimeout: connectMs,
            socketTimeout: silenceMs,
            disableFileAccess: true,
            disableUrlAccess: true,
          });
  }

  /** Sends a mail, or logs its link; never fails, and answers before it is sent. */
  send(mail: Mail): void {
    const { to, link } = mail;
    if (!this.#transport) {
      this.#log.info({ to: to.address, link }, 'there is no SMTP_URL: pass this link on');
      return;
    }
    const sending = this.#transport.sendMail({ from: this.#from, to, subject: mail.subject, text: mail.text }).then(
      () => this.#log.info({ to: to.address }, 'mail sent'),
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        this.#log.warn({ to: to.address, link, reason }, 'mail could not be sent: pass this link on');
      },
    );
    this.#underWay.add(sending);
    void sending.finally(() => this.#underWay.delete(sending));
  }

  /** Waits for the mail under way and lets go of the server. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#transport?.close();
  }
}
