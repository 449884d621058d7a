import type { Message } from './message.ts';

/** A choice that a message offers: an item of `input_select`, or a postback of a card. */
export interface Choice {
  title: string;
  value: string;
}

type Content = Pick<Message, 'content' | 'contentType' | 'contentAttributes'>;
type Fields = Readonly<Record<string, unknown>>;

/** Returns the choices of a message. Imported and older messages may have items of any form: those are left out. */
export function choicesOf(message: Omit<Content, 'content'>): Choice[] {
  const items = itemsOf(message);
  if (message.contentType === 'cards') return items.flatMap(actionsOf).flatMap(postbackOf);
  return message.contentType === 'input_select' ? items.flatMap(choiceOf) : [];
}

/** Returns the text of a message for readers that show text only: choices and cards are a numbered list below it. */
export function plainTextOf(message: Content): string {
  const { content, contentType } = message;
  if (contentType !== 'input_select' && contentType !== 'cards') return content;
  const lines = contentType === 'cards' ? itemsOf(message).map(cardLine) : choicesOf(message).map(({ title }) => title);
  return [...(content === '' ? [] : [content]), ...lines.map((line, index) => `${index + 1}. ${line}`)].join('\n');
}

function itemsOf({ contentAttributes: { items } }: Omit<Content, 'content'>): Fields[] {
  return Array.isArray(items) ? items.map(fieldsOf) : [];
}

function actionsOf({ actions }: Fields): Fields[] {
  return Array.isArray(actions) ? actions.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function choiceOf({ title, value }: Fields): Choice[] {
  if (typeof value !== 'string' && typeof value !== 'number') return [];
  return [{ title: typeof title === 'string' ? title : String(value), value: String(value) }];
}

function postbackOf({ type, text, payload }: Fields): Choice[] {
  return type === 'postback' ? choiceOf({ title: text, value: payload }) : [];
}

function cardLine(card: Fields): string {
  const heading = [card['title'], card['description']].filter((text) => typeof text === 'string' && text !== '');
  const buttons = actionsOf(card).map(
    ({ type, text, uri }) => `   ${textOf(text)}${type === 'link' ? `: ${textOf(uri)}` : ''}`,
  );
  return [heading.join(': '), ...buttons].join('\n');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
