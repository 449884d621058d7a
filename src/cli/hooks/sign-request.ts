import { createHash, createHmac } from 'node:crypto';
import { signatureHeaders } from '../../deliveries/core/sign.ts';
import type { HookScheme } from '../../packages/manifest/hooks.ts';

/** Schemes in which the command `trigger hook` can sign. */
export type SampleScheme = Exclude<HookScheme, 'sns'>;

/** A request to sign, in the name of a sender. */
export interface Unsigned {
  url: string;
  body: string;
  /** The media type of the body. */
  type: string;
  secret: string;
  /** The id that the sender gives it. */
  id: string;
  now: Date;
}

/** A request that is ready to be sent. */
export interface SignedSample {
  url: string;
  headers: Record<string, string>;
}

type Sign = (request: Unsigned) => { url?: string; headers: Record<string, string> };

/** Returns URL and headers of a request as a sender of the scheme would send it. */
export function signSample(scheme: SampleScheme, request: Unsigned): SignedSample {
  const { url = request.url, headers } = schemes[scheme](request);
  return { url, headers: { 'content-type': request.type, ...headers } };
}

const schemes: Readonly<Record<SampleScheme, Sign>> = {
  'standard-webhooks': ({ body, secret, id, now }) => ({
    headers: { ...signatureHeaders({ id, timestamp: now, body, secrets: [secret] }) },
  }),
  github: ({ body, secret, id }) => ({
    headers: {
      'x-hub-signature-256': `sha256=${hex(secret, body)}`,
      'x-github-delivery': id,
      'x-github-event': 'ping',
    },
  }),
  meta: ({ body, secret }) => ({ headers: { 'x-hub-signature-256': `sha256=${hex(secret, body)}` } }),
  stripe: ({ body, secret, now }) => {
    const time = seconds(now);
    return { headers: { 'stripe-signature': `t=${time},v1=${hex(secret, `${time}.${body}`)}` } };
  },
  slack: ({ body, secret, now }) => {
    const time = seconds(now);
    const signature = `v0=${hex(secret, `v0:${time}:${body}`)}`;
    return { headers: { 'x-slack-request-timestamp': time, 'x-slack-signature': signature } };
  },
  shopify: ({ body, secret, id }) => {
    const signature = createHmac('sha256', secret).update(body).digest('base64');
    return { headers: { 'x-shopify-hmac-sha256': signature, 'x-shopify-webhook-id': id } };
  },
  twilio: ({ url: plain, body, type, secret }) => {
    const isForm = type === formType;
    const url = isForm ? plain : withBodyHash(plain, body);
    const fields = isForm ? sortedFields(body) : '';
    const signature = createHmac('sha1', secret)
      .update(url + fields)
      .digest('base64');
    return { url, headers: { 'x-twilio-signature': signature } };
  },
  telegram: ({ secret }) => ({ headers: { 'x-telegram-bot-api-secret-token': secret } }),
  basic: ({ secret }) => ({ headers: { authorization: `Basic ${Buffer.from(secret).toString('base64')}` } }),
  none: () => ({ headers: {} }),
};

/** The media type of forms. */
export const formType = 'application/x-www-form-urlencoded';

function hex(secret: string, signed: string): string {
  return createHmac('sha256', secret).update(signed).digest('hex');
}

function seconds(moment: Date): string {
  return String(Math.floor(moment.getTime() / 1_000));
}

function withBodyHash(url: string, body: string): string {
  const hashed = new URL(url);
  hashed.searchParams.set('bodySHA256', createHash('sha256').update(body).digest('hex'));
  return hashed.href;
}

function sortedFields(form: string): string {
  const fields = [...new URLSearchParams(form)].map(([name, value]) => name + value);
  return fields.sort().join('');
}
