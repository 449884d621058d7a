import { safeName } from '../../lib/text/file-name.ts';
import { storableText } from '../../lib/text/storable.ts';
import { findProblems } from '../../schemas.ts';

type Fields = Record<string, unknown>;

/** Characters that the schemas of the actions allow. */
const most = {
  content: 20_000,
  name: 255,
  reason: 1_000,
  url: 2_048,
  id: 255,
  thread: 50,
  subject: 500,
  replyTo: 254,
  references: 20,
  quoted: 20_000,
};

/**
 * Returns the actions with the texts that come from another system made storable, and as short as their schemas ask: a customer's
 * message is not lost because of a character. Ids are not cut, since two would become one.
 */
export function withStorableTexts(batch: readonly unknown[]): unknown[] {
  return batch.map((action) => {
    const { type } = (action ?? {}) as Fields;
    const change = typeof type === 'string' ? changes.get(type) : undefined;
    return change ? change(action as Fields) : action;
  });
}

const reasonOnly = ({ reason, ...rest }: Fields): Fields =>
  reason === undefined ? rest : { ...rest, reason: blankAs('The channel gave no reason', textIn(reason, most.reason)) };

const changes = new Map<string, (action: Fields) => Fields>([
  ['incoming', incoming],
  ['status', (action) => withIds(reasonOnly(action))],
  ['sent', withIds],
  ['refused', reasonOnly],
  ['later', reasonOnly],
  ['webhook', ({ url, ...rest }) => ({ ...rest, url: textIn(url, most.url) })],
]);

function incoming({ name: given, email, phone_number: phone, attachments, content, ...rest }: Fields): Fields {
  const name = textIn(given, most.name);
  const { thread, mail } = rest;
  return {
    ...withIds(rest),
    content: textIn(content, most.content),
    ...(name === undefined || isBlank(name) ? {} : { name }),
    ...profileOf({ email, phone_number: phone }),
    ...(thread === undefined ? {} : { thread: idsIn(thread, most.thread) }),
    ...(mail === undefined ? {} : { mail: mailIn(mail) }),
    ...(attachments === undefined ? {} : { attachments: filesIn(attachments) }),
  };
}

// Cut, an address or a number would be somebody else's: one that is none is left out.
function profileOf(given: Fields): Fields {
  const least = { type: 'incoming', source_id: '-', external_id: '-', content: '' };
  const isKept = ([name, value]: [string, unknown]): boolean =>
    value !== undefined &&
    (typeof value !== 'string' || findProblems('runtime/action.incoming', { ...least, [name]: value }).length === 0);
  return Object.fromEntries(Object.entries(given).filter(isKept));
}

function mailIn(mail: unknown): unknown {
  if (typeof mail !== 'object' || mail === null) return mail;
  const { subject, reply_to: replyTo, references, quoted, ...rest } = mail as Fields;
  const isTooLong = typeof replyTo === 'string' && replyTo.length > most.replyTo;
  return {
    ...rest,
    ...(subject === undefined ? {} : { subject: textIn(subject, most.subject) }),
    ...(replyTo === undefined || isTooLong ? {} : { reply_to: textIn(replyTo, most.replyTo) }),
    ...(references === undefined ? {} : { references: idsIn(references, most.references) }),
    ...(quoted === undefined ? {} : { quoted: textIn(quoted, most.quoted) }),
  };
}

// Ids that are too long are none of messages that are known.
function idsIn(ids: unknown, count: number): unknown {
  if (!Array.isArray(ids)) return ids;
  const isOdd = (id: unknown): boolean => typeof id === 'string' && (id === '' || id.length > most.id);
  const kept = ids.filter((id: unknown) => !isOdd(id));
  return kept.slice(0, count).map((id: unknown) => textIn(id, most.id));
}

function withIds(fields: Fields): Fields {
  const ids = ['source_id', 'external_id'].filter((id) => Object.hasOwn(fields, id));
  return { ...fields, ...Object.fromEntries(ids.map((id) => [id, textIn(fields[id], Infinity)])) };
}

function filesIn(attachments: unknown): unknown {
  if (!Array.isArray(attachments)) return attachments;
  return attachments.map((file: unknown) => {
    const { file_name: given, ...rest } = (file ?? {}) as Fields;
    if (given === undefined) return file;
    if (isBlank(given)) return rest;
    return { ...rest, file_name: typeof given === 'string' ? safeName(given) : given };
  });
}

function textIn(value: unknown, chars: number): unknown {
  return typeof value === 'string' ? storableText(value, chars) : value;
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

function blankAs(words: string, value: unknown): unknown {
  return isBlank(value) ? words : value;
}
