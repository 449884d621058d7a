import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { TestApp } from './app.ts';

/** The answer to a request of a hook. */
export interface HookAnswer {
  status: number;
  headers: Headers;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

/** Sends a request as another system does. */
export async function send(
  url: string,
  body: string | Buffer,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<HookAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** Headers of a request that GitHub signs. */
export function byGithub(body: string, secret: string, delivery: string): Record<string, string> {
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${signature}`,
    'x-github-delivery': delivery,
  };
}

/** Headers of a request by Standard Webhooks. */
export function byStandard(body: string, secret: string, id: string, at = Date.now()): Record<string, string> {
  const time = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${signature}`,
  };
}

/** Creates a hook of a bot; returns its id and its URL. */
export async function makeHook(app: TestApp, bot: number, handler: string): Promise<{ id: number; url: string }> {
  const { status, body } = await app.post('hooks', { name: handler, agent_bot_id: bot, handler });
  expect(status, JSON.stringify(body)).to.equal(201);
  return { id: body.id, url: body.url };
}
