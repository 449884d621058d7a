import { addressIn, headerOf, type Mail } from './mail.ts';

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
  reason: string;
}

/** Returns the mail of ours that a report says did not arrive; null for a delay, and for mails that are not ours. */
export function readReport(mail: Mail, ownAddress: string): Bounce | null {
  const texts = [
    ...mail.reports,
    mail.text,
    ...[...mail.headers].map(([name, values]) => `${name}: ${values.join(' ')}`),
  ];
  const text = texts.join('\n').slice(0, 500_000);
  const action = /^action:\s*(\w+)/im.exec(text)?.[1]?.toLowerCase();
  const status = /^status:\s*(\d\.\d{1,3}\.\d{1,3})/im.exec(text)?.[1];
  if (action !== undefined && action !== 'failed') return null;
  const found = ownIds(text, ownAddress)[0];
  if (found === undefined) return null;
  const diagnostic = /^diagnostic-code:\s*(?:[\w-]+;)?\s*(.{1,500})/im.exec(text)?.[1]?.trim();
  const words = [diagnostic ?? 'The mail could not be delivered', status === undefined ? '' : `(${status})`];
  return { id: found, reason: words.filter(Boolean).join(' ') };
}

/** Returns the id of a mail of ours: always the same for a message, and not to be guessed. */
export function ownId({ message, hash, address }: { message: number; hash: string; address: string }): string {
  return `<message.${message}.${hash.slice(0, 24)}@${domainOf(address)}>`;
}

/** Returns the ids of mails of ours in a text. */
export function ownIds(text: string, address: string): string[] {
  const ids = text.match(/<message\.\d{1,15}\.[0-9a-f]{24}@[^<>\s]{1,189}>/g) ?? [];
  return [...new Set(ids)].filter((id) => id.endsWith(`@${domainOf(address)}>`));
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** Returns the address that a customer wants answers at, where it is another one. */
export function replyAddressOf(mail: Mail): string | undefined {
  const address = addressIn(headerOf(mail, 'reply-to'));
  return address === null || address === mail.from?.address ? undefined : address;
}
