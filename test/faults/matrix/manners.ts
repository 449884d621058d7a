import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Reply } from './evidence.ts';

/** A way to answer; resolves with what the sender has been told. */
export type Manner = (response: ServerResponse) => Promise<Reply>;

/** Answers with the status, and headers. */
export function status(code: number, headers: Record<string, string> = {}): Manner {
  return (response) => finish(response.writeHead(code, headers).end(), code < 300 ? 'accepted' : 'refused');
}

export const ok = status(200);

/** Answers 200 after some milliseconds. */
export function slow(ms: number): Manner {
  return async (response) => {
    await sleep(ms);
    return ok(response);
  };
}

/** Never answers. */
export const hang: Manner = async (response) => {
  await closed(response);
  return null;
};

/** Sends one byte of its headers a second, for ever. */
export const dripHeaders: Manner = async (response) => {
  const socket = response.socket;
  socket?.write('HTTP/1.1 200 OK\r\nx-drip: ');
  const timer = setInterval(() => socket?.write('a'), 1_000);
  await closed(response);
  clearInterval(timer);
  return null;
};

/** Answers 200 at once, and then one byte of the body a second, for ever. */
export const dripBody: Manner = async (response) => {
  response.writeHead(200).flushHeaders();
  const timer = setInterval(() => response.write('a'), 1_000);
  await closed(response);
  clearInterval(timer);
  return 'accepted';
};

/** Breaks the connection without an answer. */
export const reset: Manner = async (response) => {
  response.socket?.resetAndDestroy();
  return null;
};

/** Says 200 and a length, and closes before so much has come. */
export const lie: Manner = async (response) => {
  response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nnot so much');
  await closed(response);
  return 'cut';
};

/** Closes behind the headers. */
export const closeAfterHeaders: Manner = async (response) => {
  response.socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  await closed(response);
  return 'cut';
};

/** Answers with what is not HTTP. */
export const garbage: Manner = async (response) => {
  response.socket?.end('\u0000\u0001 chunked garbage ÿ\r\n\r\n');
  await closed(response);
  return 'refused';
};

/** Answers 200 with 30 KB of headers, which is more than anybody reads. */
export const longHeaders: Manner = (response) =>
  finish(response.writeHead(200, { 'x-long': 'a'.repeat(30_000) }).end(), 'refused');

/** 200 with a small body that unpacks to 64 MB. */
export const bomb: Manner = (response) => {
  response.writeHead(200, { 'content-encoding': 'gzip' });
  return finish(response.end(packed), 'accepted');
};

/** Answers 200 with a body without an end; `told` hears the bytes that it got rid of. */
export function endless(told: (bytes: number) => void): Manner {
  return async (response) => {
    const chunk = Buffer.alloc(64 * 1024, 'a');
    const socket = response.writeHead(200).socket;
    const pour = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', pour);
    pour();
    await closed(response);
    told(socket?.bytesWritten ?? 0);
    return 'accepted';
  };
}

const packed = gzipSync(Buffer.alloc(64 * 1024 * 1024));

// An answer that did not leave this machine's buffers, because the sender is gone, was none.
async function finish(response: ServerResponse, reply: Reply): Promise<Reply> {
  await closed(response);
  return response.writableFinished ? reply : null;
}

function closed(response: ServerResponse): Promise<void> {
  if (response.closed) return Promise.resolve();
  return new Promise((resolve) => response.once('close', () => resolve()));
}
