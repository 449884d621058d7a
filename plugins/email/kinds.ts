import { addressIn, domainOf, headerOf, type Mail } from './mail.ts';

/**
 * The kind of a mail. `own`: it comes from the address of the inbox; `report`: it tells what became of another mail; `automatic`:
 * nobody wrote it, or it went to a list, so that nothing may answer it by itself.
 */
export type MailKind = 'own' | 'report' | 'automatic' | 'personal';

const precedences = new Set(['bulk', 'list', 'junk', 'auto_reply']);
const suppressions = new Set(['all', 'oof', 'autoreply', 'dr']);
const daemons = /^(mailer-daemon|postmaster)@/;

/** Returns the kind of a mail, by RFC 3834 and by what autoresponders and lists send in practice. */
export function kindOf(mail: Mail, ownAddress: string): MailKind {
  const from = mail.from?.address.toLowerCase() ?? '';
  if (from === ownAddress.toLowerCase()) return 'own';
  const isReport =
    headerOf(mail, 'content-type').toLowerCase().startsWith('multipart/report') ||
    mail.headers.has('x-failed-recipients') ||
    daemons.test(from);
  if (isReport) return 'report';
  return signs.some((isSign) => isSign(mail)) ? 'automatic' : 'personal';
}

const signs: readonly ((mail: Mail) => boolean)[] = [
  // Parameters follow a semicolon.
  (mail) => !['', 'no'].includes(headerOf(mail, 'auto-submitted').toLowerCase().split(';')[0]?.trim() ?? ''),
  (mail) => precedences.has(headerOf(mail, 'precedence').toLowerCase()),
  ({ headers }) => [...headers.keys()].some((name) => name.startsWith('list-')),
  (mail) =>
    headerOf(mail, 'x-auto-response-suppress')
      .toLowerCase()
      .split(',')
      .some((one) => suppressions.has(one.trim())),
  ({ headers }) => headers.has('x-autoreply') || headers.has('x-autorespond'),
  (mail) => mail.headers.has('return-path') && headerOf(mail, 'return-path') === '<>',
];

/** A mail of ours that did not arrive. */
export interface Bounce {
  id: string;
  /** To whom the report says that it was sent. */
  recipients: readonly string[];
  reason: string;
}

/** Returns the mail of ours that a report says did not arrive; null for a delay, and for mails that are not ours. */
export function readReport(mail: Mail, ownAddress: string): Bounce | null {
  const headers = [...mail.headers].map(([name, values]) => `${name}: ${values.join(' ')}`);
  const texts = [mail.reports.join('\n'), mail.text, headers.join('\n')].map(unfolded);
  const text = texts.join('\n');
  const action = /^action:[ \t]{0,100}(\w{1,40})/im.exec(text)?.[1]?.toLowerCase();
  const status = /^status:[ \t]{0,100}(\d\.\d{1,3}\.\d{1,3})/im.exec(text)?.[1];
  if (action !== undefined && action !== 'failed') return null;
  const found = returnedId(texts, ownAddress);
  if (found === undefined) return null;
  const diagnostic = /^diagnostic-code:[ \t]{0,100}(?:[\w-]{1,40};)?[ \t]{0,100}(.{1,500})/im.exec(text)?.[1]?.trim();
  const words = [diagnostic ?? 'The mail could not be delivered', status === undefined ? '' : `(${status})`];
  return { id: found, recipients: recipientsIn(text), reason: words.filter(Boolean).join(' ') };
}

const maxRecipients = 20;

// A server that forwarded the mail names the address it was sent to as the original one; some tell it in a header alone.
function recipientsIn(text: string): string[] {
  const fields = text.matchAll(/^(?:final|original)-recipient:[ \t]{0,100}[\w-]{1,40};[ \t]{0,100}(\S{1,256})/gim);
  const failed = /^x-failed-recipients:(.{1,2000})/im.exec(text)?.[1]?.split(',') ?? [];
  const named = [...Array.from(fields, ([, address = '']) => address), ...failed];
  return [...new Set(named.slice(0, maxRecipients).flatMap((one) => addressIn(one) ?? []))];
}

function unfolded(text: string): string {
  return text.slice(0, 200_000).replace(/\r?\n[ \t]+/g, ' ');
}

/** Returns the id of the mail of ours that texts tell of: each text is read when those before it name none. */
export function returnedId(texts: readonly string[], address: string): string | undefined {
  for (const text of texts) {
    const names = text.match(/^(?:x-original-)?message-id:[ \t]{0,100}<[^<>\s]{1,250}>/gim) ?? [];
    // Mails before it in the thread are named too, and the last reference is the mail itself.
    const found = ownIds(names.join('\n'), address)[0] ?? ownIds(text, address).at(-1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the id of a mail of ours: always the same for a message, and not to be guessed. */
export function ownId({ message, hash, address }: { message: number; hash: string; address: string }): string {
  return `<message.${message}.${hash.slice(0, 24)}@${domainOf(address)}>`;
}

/** Returns the part of an id of ours that cannot be guessed. */
export function ownHash(id: string): string {
  return id.slice(1).split(/[.@]/, 3)[2] ?? '';
}

/** Returns the ids of mails of ours in a text, in the order of their last places. */
export function ownIds(text: string, address: string): string[] {
  const ids = text.match(/<message\.\d{1,15}\.[0-9a-f]{24}@[^<>\s]{1,189}>/g) ?? [];
  return [...new Set(ids.toReversed())].toReversed().filter((id) => id.endsWith(`@${domainOf(address)}>`));
}

/** An address that answers are wanted at, and whether they may go there. */
export interface ReplyAddress {
  address: string;
  isTrusted: boolean;
}

/** Returns the address that a mail wants answers at; null where it is the sender's. A stranger's mail must not divert answers to another domain. */
export function replyAddressOf(mail: Mail): ReplyAddress | null {
  const address = addressIn(headerOf(mail, 'reply-to'));
  const from = mail.from?.address ?? '';
  if (address === null || address === from) return null;
  return { address, isTrusted: mail.isDoubtful !== true && domainOf(address) === domainOf(from) };
}
