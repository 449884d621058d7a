import type { OutgoingMessage } from 'switchboard/bot';

/** A call of the Bot API that sends a part of a message. */
export interface Part {
  method: 'sendMessage' | 'sendPhoto' | 'sendDocument';
  /** Fields beside `chat_id`. */
  fields: Record<string, string | { file: number; name: string }>;
}

/** Bounds of the Bot API, in UTF-16 code units and bytes. */
const [maxText, maxCaption, maxPhotoBytes] = [4096, 1024, 10_000_000];
const photoTypes = ['image/jpeg', 'image/png'];

/** Returns the calls that send a message: its text, with a keyboard for choices, then its files. */
export function partsOf({
  content,
  content_type: type,
  content_attributes: attributes,
  attachments,
}: OutgoingMessage): Part[] {
  const choices = type === 'input_select' || type === 'cards' ? titlesOf(attributes.items) : [];
  const isCaption = attachments.length > 0 && choices.length === 0 && content.length <= maxCaption;
  const texts = isCaption ? [] : split(content);
  return [
    ...texts.map((text, index): Part => {
      const isLast = index === texts.length - 1;
      return { method: 'sendMessage', fields: { text, ...(isLast ? keyboard(choices) : {}) } };
    }),
    ...attachments.map(({ id, file_name: name, content_type: fileType, file_size: bytes }, index): Part => {
      const isPhoto = photoTypes.includes(fileType) && bytes <= maxPhotoBytes;
      const caption: Record<string, string> = isCaption && index === 0 && content !== '' ? { caption: content } : {};
      const file = { file: id, name };
      return isPhoto
        ? { method: 'sendPhoto', fields: { photo: file, ...caption } }
        : { method: 'sendDocument', fields: { document: file, ...caption } };
    }),
  ];
}

/** Divides a text at line breaks or spaces where it can, and never within a character. */
export function split(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > maxText) {
    const window = rest.slice(0, maxText);
    const at = Math.max(window.lastIndexOf('\n'), window.lastIndexOf(' '));
    // Half of a pair of surrogates is no character.
    const isPair = /[\uD800-\uDBFF]$/.test(window);
    const end = at > maxText / 2 ? at : maxText - (isPair ? 1 : 0);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return rest === '' ? parts : [...parts, rest];
}

function titlesOf(items: unknown): string[] {
  const list = Array.isArray(items) ? (items as { title?: unknown }[]) : [];
  return list.flatMap(({ title }) => (typeof title === 'string' ? title : []));
}

// A press sends the title as the customer's text.
function keyboard(titles: readonly string[]): Record<string, string> {
  if (titles.length === 0) return {};
  const rows = titles.map((text) => [{ text }]);
  return { reply_markup: JSON.stringify({ keyboard: rows, resize_keyboard: true, one_time_keyboard: true }) };
}
