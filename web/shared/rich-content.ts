/** Choice of a message: an item, or a postback of a card. */
export interface Choice {
  title: string;
  value: string;
}

/** Button of a card: a link, or a choice. */
export type CardAction = { text: string; href: string } | Choice;

export interface Card {
  title: string;
  description: string;
  /** Address of a picture; null for none. */
  mediaUrl: string | null;
  actions: readonly CardAction[];
}

/** Fields of a message that its choices are found by. */
export interface RichMessage {
  id: number;
  content: string;
  content_type: string;
  content_attributes: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

// Copies of other systems may have anything in these fields, and addresses decide what a click does.

/** Returns the items of a choice. */
export function choicesIn({ content_attributes: { items } }: Pick<RichMessage, 'content_attributes'>): Choice[] {
  return listOf(items).flatMap(({ title, value }) => choiceOf(title, value));
}

/** Returns the cards of a message. */
export function cardsIn({ content_attributes: { items } }: Pick<RichMessage, 'content_attributes'>): Card[] {
  return listOf(items).map(({ title, description, media_url: media, actions }) => ({
    title: textOf(title),
    description: textOf(description),
    mediaUrl: webAddress(media),
    actions: listOf(actions).flatMap(actionOf),
  }));
}

/** Returns all that the customer can choose in a message. */
export function choicesOf(message: RichMessage): Choice[] {
  if (message.content_type === 'input_select') return choicesIn(message);
  if (message.content_type !== 'cards') return [];
  return cardsIn(message).flatMap(({ actions }) => actions.flatMap((action) => ('href' in action ? [] : [action])));
}

/** Returns the value that was chosen in a message, by a later message or in place; null where none was. */
export function chosenIn(
  { id, content_attributes: own }: RichMessage,
  messages: readonly RichMessage[],
): string | null {
  const answer = messages.findLast(({ content_attributes: attributes }) => attributes['in_reply_to'] === id);
  return (
    (answer && (submittedIn(answer.content_attributes)?.value ?? answer.content)) ?? submittedIn(own)?.value ?? null
  );
}

/** Returns the choice that a message submits; null for any other message. */
export function submittedIn({ submitted_values: values }: Fields): Choice | null {
  const [first] = listOf(values);
  return (first && choiceOf(first['title'], first['value'])[0]) ?? null;
}

function choiceOf(title: unknown, value: unknown): Choice[] {
  if (typeof value !== 'string' && typeof value !== 'number') return [];
  return [{ title: typeof title === 'string' ? title : String(value), value: String(value) }];
}

function actionOf({ type, text, uri, payload }: Fields): CardAction[] {
  if (type === 'postback') return choiceOf(text, payload);
  const href = type === 'link' ? webAddress(uri) : null;
  return href === null ? [] : [{ text: textOf(text) || href, href }];
}

function webAddress(text: unknown): string | null {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : null;
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null;
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value)
    ? value.map((one: unknown) => (typeof one === 'object' && one !== null ? (one as Fields) : {}))
    : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
