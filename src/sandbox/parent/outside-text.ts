import { safeName } from '../../lib/text/file-name.ts';
import { storableText } from '../../lib/text/storable.ts';

type Fields = Record<string, unknown>;

/** Characters that the schemas of the actions allow. */
const most = { content: 20_000, name: 255, reason: 1_000, url: 2_048 };

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

function incoming({ name: given, attachments, content, ...rest }: Fields): Fields {
  const name = textIn(given, most.name);
  return {
    ...withIds(rest),
    content: textIn(content, most.content),
    ...(name === undefined || isBlank(name) ? {} : { name }),
    ...(attachments === undefined ? {} : { attachments: filesIn(attachments) }),
  };
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
