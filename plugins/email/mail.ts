/** A mail as a provider brings it, whatever its shape there. */
export interface Mail {
  from: { address: string; name?: string } | null;
  subject: string;
  text: string;
  html: string;
  /** Values by names in lower case, in their order. */
  headers: ReadonlyMap<string, readonly string[]>;
  files: readonly MailFile[];
  /** Texts of the parts that tell what became of another mail. */
  reports: readonly string[];
  /** The provider does not confirm that its sender wrote it. */
  isDoubtful?: boolean;
}

/** A file: at a place of the request, or whole as base64. */
export type MailFile = { file_name: string } & ({ hook: string } | { data: string });

const id = /<[^<>\s\p{Cc}\p{Cs}]{1,250}>/gu;
const maxIds = 50;

/** Returns headers by their names in lower case. */
export function headersOf(list: readonly (readonly [name: string, value: string])[]): Mail['headers'] {
  const headers = new Map<string, string[]>();
  for (const [name, value] of list) {
    const values = headers.get(name.toLowerCase());
    if (values) values.push(value);
    else headers.set(name.toLowerCase(), [value]);
  }
  return headers;
}

/** Returns the first value of a header; empty without one. */
export function headerOf({ headers }: Pick<Mail, 'headers'>, name: string): string {
  return headers.get(name)?.[0]?.trim() ?? '';
}

/** Returns the ids of mails in a header, with their angle brackets. */
export function idsIn(mail: Pick<Mail, 'headers'>, name: string): string[] {
  const text = mail.headers.get(name)?.join(' ') ?? '';
  return [...(text.slice(0, 20_000).match(id) ?? [])].slice(-maxIds);
}

/** Returns the mails that a mail answers, the nearest first. */
export function threadOf(mail: Pick<Mail, 'headers'>): string[] {
  const ids = [...idsIn(mail, 'in-reply-to'), ...idsIn(mail, 'references').toReversed()];
  return [...new Set(ids)].slice(0, maxIds);
}

/** Returns the address in a header such as `Ada <ada@example.com>`, in lower case; null without one. */
export function addressIn(text: string): string | null {
  const found = /<([^<>\s]{1,254})>/.exec(text)?.[1] ?? text.trim();
  return isAddress(found) ? found.toLowerCase() : null;
}

/** Whether a text is an address that mail can be sent to. */
export function isAddress(text: string): boolean {
  return /^[^\s\p{Cc}\p{Cs}@<>,;:"()[\]\\]{1,64}@[^\s\p{Cc}\p{Cs}@<>,;:"()[\]\\]{1,189}$/u.test(text);
}

/** Whether an address is one that a contact can have: with letters of ASCII, a full domain, and single dots. */
export function isContactEmail(address: string): boolean {
  const [local = '', domain = ''] = address.split('@', 2);
  const labels = domain.split('.');
  return (
    local.split('.').every((part) => /^[\w!#$%&'*+/=?^`{|}~-]+$/.test(part)) &&
    labels.length > 1 &&
    labels.every((label) => /^[a-z0-9-]+$/i.test(label) && !label.startsWith('-') && !label.endsWith('-'))
  );
}

/** Returns the domain of an address, in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
