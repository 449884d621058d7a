import type { OutgoingFile, OutgoingMessage } from 'switchboard/bot';

/** A message of the Cloud API: a part of a message of ours. */
export interface Part {
  /** The body without the customer; of a file without its media. */
  body: { type: string; [field: string]: unknown };
  /** The file to upload first. */
  file?: { id: number; name: string; type: string };
}

interface Choice {
  title: string;
  value: string;
}

/** Bounds of the Cloud API, in characters and bytes. */
const max = {
  text: 4096,
  caption: 1024,
  buttonBody: 1024,
  buttons: 3,
  buttonTitle: 20,
  rows: 10,
  rowTitle: 24,
  id: 200,
};
const megabyte = 1_000_000;
/** Types that a kind of message may have; any other file is a document. */
const kinds = [
  { kind: 'image', types: ['image/jpeg', 'image/png'], bytes: 5 * megabyte },
  { kind: 'video', types: ['video/mp4', 'video/3gpp'], bytes: 16 * megabyte },
  {
    kind: 'audio',
    types: ['audio/aac', 'audio/mp4', 'audio/mpeg', 'audio/amr', 'audio/ogg'],
    bytes: 16 * megabyte,
  },
] as const;

/** Returns the messages that send one of ours: a template, else its text, with choices, then its files. Throws for a template that is none. */
export function partsOf(message: OutgoingMessage): Part[] {
  const { content, content_type: type, content_attributes: attributes, attachments } = message;
  if (attributes.template !== undefined)
    return [{ body: { type: 'template', template: templateOf(attributes.template) } }];
  const choices = type === 'input_select' || type === 'cards' ? choicesOf(attributes.items) : [];
  const [first] = attachments;
  const isCaption =
    first !== undefined && choices.length === 0 && content.length <= max.caption && kindOf(first) !== 'audio';
  return [
    ...(isCaption ? [] : textParts(content, choices)),
    ...attachments.map((file, index) => filePart(file, isCaption && index === 0 ? content : '')),
  ];
}

function textParts(content: string, choices: readonly Choice[]): Part[] {
  const shown = choices.length === 0 ? null : interactiveOf(content, choices);
  if (shown) return [{ body: { type: 'interactive', interactive: shown } }];
  const numbered = choices.map(({ title }, index) => `${index + 1}. ${title}`);
  return split([content, ...numbered].join('\n')).map((body) => ({ body: { type: 'text', text: { body } } }));
}

// Choices that WhatsApp would refuse are numbered lines of the text.
function interactiveOf(text: string, choices: readonly Choice[]): object | null {
  const fits = (most: number, chars: number, bodyChars: number): boolean =>
    choices.length <= most && text.length <= bodyChars && choices.every(({ title }) => title.length <= chars);
  const isDistinct = new Set(choices.map(({ title }) => title)).size === choices.length;
  if (!isDistinct || text.trim() === '') return null;
  const options = choices.map(({ title, value }, index) => ({
    id:
      value.length <= max.id && choices.findIndex((one) => one.value === value) === index
        ? value
        : `choice ${index + 1}`,
    title,
  }));
  if (fits(max.buttons, max.buttonTitle, max.buttonBody)) {
    const buttons = options.map((reply) => ({ type: 'reply', reply }));
    return { type: 'button', body: { text }, action: { buttons } };
  }
  if (!fits(max.rows, max.rowTitle, max.text)) return null;
  return {
    type: 'list',
    body: { text },
    action: { button: 'Choose', sections: [{ title: 'Choices', rows: options }] },
  };
}

function filePart(file: OutgoingFile, caption: string): Part {
  const { id, file_name: name, content_type: type } = file;
  const kind = kindOf(file);
  const fields = { ...(caption === '' ? {} : { caption }), ...(kind === 'document' ? { filename: name } : {}) };
  return { body: { type: kind, [kind]: fields }, file: { id, name, type } };
}

function kindOf({ content_type: type, file_size: bytes }: OutgoingFile): string {
  const found = kinds.find(({ types, bytes: most }) => bytes <= most && (types as readonly string[]).includes(type));
  return found?.kind ?? 'document';
}

function choicesOf(items: unknown): Choice[] {
  const list = Array.isArray(items) ? (items as { title?: unknown; value?: unknown }[]) : [];
  return list.flatMap(({ title, value = title }) => (typeof title === 'string' ? { title, value: String(value) } : []));
}

/** The template of `content_attributes`. */
interface Template {
  name?: unknown;
  language?: unknown;
  parameters?: unknown;
  components?: unknown;
}

function templateOf(given: unknown): object {
  const { name, language, parameters, components } = (given ?? {}) as Template;
  if (typeof name !== 'string' || typeof language !== 'string')
    throw new TypeError('`content_attributes.template` needs a `name` and a `language`, such as en_US');
  const list = Array.isArray(parameters) ? parameters.map((text) => ({ type: 'text', text: String(text) })) : [];
  const body = list.length > 0 ? [{ type: 'body', parameters: list }] : [];
  return { name, language: { code: language }, components: Array.isArray(components) ? components : body };
}

/** Divides a text at line breaks or spaces where it can, and never within a character. */
export function split(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > max.text) {
    const window = rest.slice(0, max.text);
    const at = Math.max(window.lastIndexOf('\n'), window.lastIndexOf(' '));
    // Half of a pair of surrogates is no character.
    const isPair = /[\uD800-\uDBFF]$/.test(window);
    const end = at > max.text / 2 ? at : max.text - (isPair ? 1 : 0);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return rest === '' ? parts : [...parts, rest];
}
