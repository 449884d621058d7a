import { isHeaderText } from '../../outbound/request-headers.ts';
import { MailError, type ChannelMail, type MailSending } from '../../outbound/channel-mail.ts';
import { ForbiddenCall, type HostCall } from '../../sandbox/run.ts';
import type { DoorRun } from './doors.ts';
import { DoorError, UnavailableError } from './errors.ts';
import { findFiles, type FormFiles } from './form-body.ts';
import type { Redaction } from './redaction.ts';
import type { RequestBudget } from './request-budget.ts';
import { hideSecrets } from './secret-values.ts';

/** Sends a mail by a server of its own, or by that of the service. Errors: MailError. */
export type SendMail = (mail: ChannelMail, sending: MailSending) => Promise<void>;

/** A mail of a run that no answer of the server has settled: `sending`, or, once the server had all of it, `unknown`. */
export type OpenMail = 'sending' | 'unknown';

interface MailPorts {
  send: SendMail | undefined;
  redaction: Redaction;
  budget: RequestBudget;
  files: FormFiles | undefined;
}

type Fields = Record<string, unknown>;
type Plain = Omit<ChannelMail, 'files'> & { attachments: readonly number[] };

const max = { subject: 998, text: 60_000, id: 255, references: 50, headers: 20, files: 10 };
const address = /^[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,189}$/;
const messageId = /^<[^<>\s]{1,253}>$/;
/** Headers that a channel may set: the others are of the mail itself. */
const settable = /^(auto-submitted|precedence|x-[a-z0-9-]{1,64})$/;

/** `ctx.mail.send`: the channel's permission, the address of the inbox, one recipient, and no text that could become a header. */
export class MailDoor {
  readonly #run: DoorRun;
  readonly #ports: MailPorts;
  #open: OpenMail | null = null;

  constructor(run: DoorRun, ports: MailPorts) {
    this.#run = run;
    this.#ports = ports;
  }

  /** The mail that no answer has settled, also after the run has ended; null for none. */
  get open(): OpenMail | null {
    return this.#open;
  }

  readonly call: HostCall = async (input, _, signal) => {
    const { permissions, owner, identity } = this.#run;
    const { redaction, budget, files, send } = this.#ports;
    if (permissions.mail === undefined) throw new ForbiddenCall('The manifest does not ask for `permissions.mail`');
    const { attachments, ...mail } = readMail(input);
    if (mail.from.toLowerCase() !== identity?.toLowerCase())
      throw refuse('`from` must be the address of the inbox: the setting that `identity` of the manifest names');
    budget.take();
    if (!send) throw new UnavailableError('mail');
    hideSecrets(this.#run, redaction);
    const { accountId, botId, conversationId } = owner;
    const form = Object.fromEntries(attachments.map((file, index) => [String(index), { file, name: null }]));
    const { files: found, bytes } = await findFiles(form, async (id) => {
      const file = await files?.find({ accountId, botId, conversationId, id });
      if (file) return file;
      throw new DoorError('unknown_file', `${id} is not a file of a public message of this conversation`);
    });
    const release = await files?.room.take({ account: accountId, bytes }, signal);
    try {
      const read = await Promise.all(
        [...found.values()].map(async (file) => ({ name: file.name, type: file.type, bytes: await file.read() })),
      );
      await this.#send(send, { ...mail, files: read }, { server: this.#run.secret(permissions.mail), signal });
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      throw new DoorError(`mail_${error.kind}`, redaction.apply(error.message));
    } finally {
      release?.();
    }
    return { message_id: mail.messageId };
  };

  // A mail whose run ends meanwhile stays open: nobody hears the answer of the server.
  async #send(send: SendMail, mail: ChannelMail, { server, signal }: Pick<MailSending, 'server' | 'signal'>) {
    const before = this.#open;
    let isUnknown = false;
    this.#open = before ?? 'sending';
    try {
      await send(mail, {
        accountId: this.#run.owner.accountId,
        server,
        signal,
        wentOut: () => (this.#open = 'unknown'),
      });
    } catch (error) {
      isUnknown = error instanceof MailError && error.kind === 'unknown';
      throw error;
    } finally {
      if (!isUnknown && !signal.aborted) this.#open = before;
    }
  }
}

function readMail(input: unknown): Plain {
  const given = (typeof input === 'object' && input !== null ? input : {}) as Fields;
  return {
    from: textIn(given, 'from', address),
    to: textIn(given, 'to', address),
    subject: lineIn(given, 'subject'),
    text: bodyIn(given),
    messageId: textIn(given, 'message_id', messageId),
    inReplyTo: given['in_reply_to'] === undefined ? null : textIn(given, 'in_reply_to', messageId),
    references: idsIn(given['references']),
    headers: headersIn(given['headers']),
    attachments: filesIn(given['attachments']),
  };
}

function textIn(given: Fields, name: string, pattern: RegExp): string {
  const value = given[name];
  if (typeof value === 'string' && value.length <= max.id && pattern.test(value)) return value;
  throw refuse(`\`${name}\` is none that a mail can have`);
}

function lineIn(given: Fields, name: 'subject'): string {
  const value = given[name];
  if (typeof value === 'string' && value.length <= max.subject && !/[\r\n\0]/.test(value)) return value;
  throw refuse(`\`${name}\` must be one line of at most ${max.subject} characters`);
}

function bodyIn({ text }: Fields): string {
  if (typeof text === 'string' && text.length <= max.text) return text;
  throw refuse(`\`text\` must be a text of at most ${max.text} characters`);
}

// Ids come from other systems: a strange one is left out.
function idsIn(value: unknown = []): string[] {
  if (!Array.isArray(value)) throw refuse('`references` must be a list');
  const ids = value.filter((id): id is string => typeof id === 'string' && messageId.test(id));
  return ids.slice(-max.references);
}

function headersIn(value: unknown = {}): Record<string, string> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (entries.length > max.headers) throw refuse(`A mail may have ${max.headers} headers`);
  const bad = entries.find(([name, text]) => !settable.test(name) || typeof text !== 'string' || !isHeaderText(text));
  if (bad) throw refuse(`The header ${JSON.stringify(bad[0].slice(0, 100))} cannot be set so`);
  return Object.fromEntries(entries);
}

function filesIn(value: unknown = []): number[] {
  const isList = Array.isArray(value) && value.length <= max.files && value.every(Number.isSafeInteger);
  if (isList) return value as number[];
  throw refuse(`\`attachments\` must be at most ${max.files} ids of files`);
}

function refuse(message: string): DoorError {
  return new DoorError('bad_request', message);
}
