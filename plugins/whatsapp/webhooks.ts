// Webhooks of the WhatsApp Cloud API, as far as they matter here. Fields and kinds that are new are left alone.

/** A file of a message. */
export interface WhatsAppFile {
  id: string;
  mime_type?: string;
  caption?: string;
  filename?: string;
}

type Kind = 'image' | 'video' | 'audio' | 'document' | 'sticker';
const fileKinds = ['image', 'video', 'audio', 'document', 'sticker'] as const satisfies readonly Kind[];

/** A message of a customer; which fields it has depends on its type. */
export interface WhatsAppMessage extends Partial<Record<Kind, WhatsAppFile>> {
  id: string;
  type: string;
  /** The phone number; absent where the customer hides it behind a username. */
  from?: string;
  from_user_id?: string;
  timestamp?: string;
  text?: { body?: string };
  location?: { latitude: number; longitude: number; name?: string; address?: string };
  contacts?: { name?: { formatted_name?: string }; phones?: { phone?: string }[] }[];
  interactive?: Partial<Record<'button_reply' | 'list_reply', { title?: string }>> & { nfm_reply?: { body?: string } };
  button?: { text?: string };
  reaction?: { emoji?: string };
  system?: { body?: string };
  order?: { product_items?: unknown[]; text?: string };
}

/** A status of a message that was sent. */
export interface WhatsAppStatus {
  id: string;
  status: string;
  errors?: { code?: number; title?: string; message?: string; error_data?: { details?: string } }[];
  biz_opaque_callback_data?: string;
}

interface Value {
  metadata?: { phone_number_id?: string };
  contacts?: { profile?: { name?: string }; wa_id?: string; user_id?: string }[];
  messages?: WhatsAppMessage[];
  statuses?: WhatsAppStatus[];
}

/** A request of Meta to the webhook. */
export interface Webhook {
  entry?: { changes?: { field?: string; value?: Value }[] }[];
}

/** A message with the customer who wrote it. */
export interface CustomerMessage {
  message: WhatsAppMessage;
  sourceId: string;
  name: string | undefined;
  phoneNumber: string | undefined;
}

/** Returns the messages and statuses of one phone number, in their order: an app may serve several numbers, and hear of other things. */
export function readWebhook(
  webhook: Webhook | null,
  phoneNumberId: string,
): { messages: CustomerMessage[]; statuses: WhatsAppStatus[] } {
  const values = listOf(webhook?.entry)
    .flatMap(({ changes }) => listOf(changes))
    .flatMap(({ field, value }) => (field === 'messages' && value ? [value] : []))
    .filter(({ metadata }) => metadata?.phone_number_id === phoneNumberId);
  return {
    messages: values.flatMap((value) => listOf(value.messages).flatMap((message) => withCustomer(message, value))),
    statuses: values.flatMap(({ statuses }) => listOf(statuses)),
  };
}

function withCustomer(message: WhatsAppMessage, { contacts }: Value): CustomerMessage[] {
  const number = message.from;
  const contact = listOf(contacts).find(
    ({ wa_id: id, user_id: userId }) => id === number || (userId !== undefined && userId === message.from_user_id),
  );
  const sourceId = number ?? message.from_user_id ?? contact?.user_id;
  if (sourceId === undefined) return [];
  const name = contact?.profile?.name?.trim().slice(0, 255);
  const isNumber = number !== undefined && /^[1-9]\d{1,14}$/.test(number);
  return [
    { message, sourceId, name: name === '' ? undefined : name, phoneNumber: isNumber ? `+${number}` : undefined },
  ];
}

/** Returns the file of a message, and the kind of message it makes; null without one. */
export function fileOf(message: WhatsAppMessage): (WhatsAppFile & { kind: Kind }) | null {
  const kind = fileKinds.find((one) => one === message.type);
  const file = kind && message[kind];
  return file && typeof file.id === 'string' ? { ...file, kind } : null;
}

const extensions: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'audio/ogg': 'ogg',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/aac': 'aac',
  'audio/amr': 'amr',
  'video/mp4': 'mp4',
  'video/3gpp': '3gp',
  'application/pdf': 'pdf',
  'text/plain': 'txt',
};

/** Returns the name of a file: only documents bring one. */
export function nameOf({ kind, id, filename, mime_type: type = '' }: WhatsAppFile & { kind: Kind }): string {
  if (filename !== undefined && filename !== '') return filename.slice(-255);
  const extension = extensions[type.split(';')[0]?.trim() ?? ''] ?? 'bin';
  return `${kind}-${id.slice(-12)}.${extension}`;
}

/** Returns the text of a message, or words for what has none. */
export function textOf(message: WhatsAppMessage): string {
  const known = Object.hasOwn(words, message.type) ? words[message.type] : undefined;
  if (known) return known(message) ?? '';
  const file = fileOf(message);
  return file
    ? (file.caption ?? '')
    : `(A message of the kind ${message.type}, which WhatsApp shows on the phone only)`;
}

const words: Readonly<Record<string, (message: WhatsAppMessage) => string | undefined>> = {
  text: ({ text }) => text?.body,
  location: ({ location }) => location && placeOf(location),
  contacts: ({ contacts }) =>
    listOf(contacts)
      .map(
        ({ name, phones }) =>
          `${name?.formatted_name ?? ''}: ${listOf(phones)
            .map((one) => one.phone)
            .join(', ')}`,
      )
      .join('\n'),
  interactive: ({ interactive }) =>
    interactive?.button_reply?.title ?? interactive?.list_reply?.title ?? interactive?.nfm_reply?.body,
  button: ({ button }) => button?.text,
  reaction: ({ reaction }) => (reaction?.emoji ? `Reacted with ${reaction.emoji}` : 'Removed a reaction'),
  system: ({ system }) => system?.body,
  order: ({ order }) =>
    [`(An order of ${listOf(order?.product_items).length} items)`, order?.text].filter(Boolean).join('\n'),
};

function placeOf({ latitude, longitude, name, address }: NonNullable<WhatsAppMessage['location']>): string {
  return [`📍 ${latitude}, ${longitude}`, name, address].filter(Boolean).join('\n');
}

function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value : [];
}
