// Meta repeats `biz_opaque_callback_data` of a message in its statuses: by it they are found before the answer to the request is
// known, and where that was lost.

/** A part of a message of ours. */
export interface SentPart {
  message: number;
  part: number;
  of: number;
}

/** Returns the data that a part is sent with. */
export function inPart({ message, part, of }: SentPart): string {
  return `switchboard:${message}:${part}:${of}`;
}

/** Returns the part that data is about; null for a message that was sent from elsewhere. */
export function isOurs(data: string | undefined): SentPart | null {
  const [, message, part, of] = /^switchboard:(\d{1,15}):(\d{1,4}):(\d{1,4})$/.exec(data ?? '') ?? [];
  return message === undefined ? null : { message: Number(message), part: Number(part), of: Number(of) };
}
