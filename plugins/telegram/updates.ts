// Updates of the Telegram Bot API, as far as they matter here. Fields and kinds that are new are left alone.

/** A file of a message; which fields it has depends on its kind. */
interface TelegramFile {
  file_id: string;
  file_name?: string;
  file_size?: number;
}

/** A message of a chat. */
export interface TelegramMessage {
  message_id: number;
  chat: { id: number | string; type: string };
  from?: { is_bot?: boolean; first_name?: string; last_name?: string; username?: string };
  date: number;
  text?: string;
  caption?: string;
  photo?: TelegramFile[];
  document?: TelegramFile;
  audio?: TelegramFile;
  voice?: TelegramFile;
  video?: TelegramFile;
  video_note?: TelegramFile;
  sticker?: TelegramFile & { emoji?: string };
  location?: { latitude: number; longitude: number };
  contact?: { first_name: string; phone_number: string };
}

/** An update, which Telegram sends to the webhook. */
export interface Update {
  update_id: number;
  message?: TelegramMessage;
  edited_message?: TelegramMessage;
}

/** A customer's message of an update. */
export interface CustomerMessage {
  message: TelegramMessage;
  isEdit: boolean;
}

/** Returns the customer's message of an update; null for other updates, and for groups, whose members are no single customer. */
export function readUpdate({ message, edited_message: edited }: Update): CustomerMessage | null {
  const found = message ?? edited;
  if (!found || found.chat.type !== 'private' || found.from?.is_bot) return null;
  return { message: found, isEdit: message === undefined };
}

/** Returns the id of a message, which Telegram counts within its chat. */
export function externalId(chat: number | string, messageId: number): string {
  return `${chat}:${messageId}`;
}

/** Returns the customer's name. */
export function nameOf({ from }: Pick<TelegramMessage, 'from'>): string | undefined {
  const name = [from?.first_name, from?.last_name].filter(Boolean).join(' ');
  return name === '' ? from?.username : name;
}

/** Returns the text of a message, or words for what has none. */
export function textOf({ text, caption, sticker, location, contact }: TelegramMessage): string {
  if (text !== undefined || caption !== undefined) return text ?? caption ?? '';
  if (location) return `📍 ${location.latitude}, ${location.longitude}`;
  if (contact) return `${contact.first_name}: ${contact.phone_number}`;
  return sticker?.emoji ?? '';
}

/** Returns the file of a message, with its name where Telegram has one; null without a file. A photo comes in several sizes, the largest last. */
export function fileOf(message: TelegramMessage): { id: string; name: string | null } | null {
  const { document, audio, voice, video, video_note: note, photo } = message;
  const file = [document, audio, voice, video, note, photo?.at(-1)].find((one) => one !== undefined);
  return file ? { id: file.file_id, name: file.file_name ?? null } : null;
}
