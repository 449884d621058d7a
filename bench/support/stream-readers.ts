// The program of the thread that reads streams of events, so that what it computes does not delay the requests that are
// timed. It counts in memory that it shares: the streams that have answered, and behind them the events of each reader.
import { connect } from 'node:net';
import { workerData } from 'node:worker_threads';

interface Reading {
  url: string;
  token: string;
  counts: Uint32Array;
}

const { url, token, counts } = workerData as Reading;
const { hostname, port, host } = new URL(url);
const line = Buffer.from('\ndata:');
const openedAtOnce = 25;
const head = `GET /api/v1/accounts/1/events/stream HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream`;

/** Resolves when the stream has answered. */
function open(place: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: hostname, port: Number(port) });
  socket.once('error', reject);
  socket.once('end', () => reject(new Error(`Reader ${place} was cut off`)));
  socket.once('data', (answer: Buffer) => {
    const status = answer.toString('latin1', 0, 12);
    if (status !== 'HTTP/1.1 200') return reject(new Error(`A reader was answered ${status}`));
    Atomics.add(counts, 0, 1);
    resolve();
  });
  socket.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(line); at !== -1; at = chunk.indexOf(line, at + 1)) Atomics.add(counts, place, 1);
  });
  socket.write(`${head}\r\napi_access_token: ${token}\r\n\r\n`);
  return promise;
}

for (let first = 1; first < counts.length; first += openedAtOnce) {
  const count = Math.min(openedAtOnce, counts.length - first);
  await Promise.all(Array.from({ length: count }, (_, index) => open(first + index)));
}
