import { createHash, createHmac } from 'node:crypto';

/** The headers by which the field's leader signs, beside those of Standard Webhooks. */
interface ChatwootHeaders {
  /** A UUID, the same in every attempt and resend. */
  readonly 'x-chatwoot-delivery': string;
  /** Unix seconds of the attempt. */
  readonly 'x-chatwoot-timestamp': string;
  /** `sha256=` and the hexadecimal HMAC of timestamp, dot and body; the key is the text of the secret as it is shown. */
  readonly 'x-chatwoot-signature': string;
}

interface Attempt {
  /** The id under which the endpoint gets the event: `webhook-id`. */
  id: string;
  timestamp: Date;
  body: string;
  secret: string;
}

/** Signs an attempt as existing receivers of the field's leader verify it. */
export function chatwootHeaders({ id, timestamp, body, secret }: Attempt): ChatwootHeaders {
  const seconds = String(Math.floor(timestamp.getTime() / 1_000));
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return {
    'x-chatwoot-delivery': uuidOf(id),
    'x-chatwoot-timestamp': seconds,
    'x-chatwoot-signature': `sha256=${mac}`,
  };
}

// Returns a UUID of version 8, which the standard leaves to custom rules.
function uuidOf(id: string): string {
  const bytes = createHash('sha256').update(id).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
