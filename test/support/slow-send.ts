import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** A request whose last byte is still to come. */
export interface SlowRequest {
  /** Sends the last byte; the status of the answer. */
  finish: () => Promise<number>;
}

/** Sends a request but for its last byte, and waits until the service has begun to read it. */
export async function slowSend(
  url: string,
  body: string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<SlowRequest> {
  const sending = request(url, { method: 'POST', headers: { ...headers, 'content-length': Buffer.byteLength(body) } });
  const answer = once(sending, 'response') as Promise<[{ statusCode: number; resume: () => void }]>;
  sending.write(body.slice(0, -1));
  await wait(300);
  return {
    finish: async () => {
      sending.end(body.slice(-1));
      const [response] = await answer;
      response.resume();
      return response.statusCode;
    },
  };
}
