import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What the server says for a name: records by type, an error code of DNS, or nothing at all. */
export type Zone = Readonly<
  Record<string, { a?: string[]; aaaa?: string[]; ttl?: number } | 'NXDOMAIN' | 'SERVFAIL' | 'hang'>
>;

/** A DNS server on loopback. */
export interface NameServer {
  readonly address: string;
  readonly queries: () => number;
  readonly close: () => void;
}

const typeA = 1;
const typeAaaa = 28;
const responseCodes = { NXDOMAIN: 3, SERVFAIL: 2 };

/** Serves a zone over UDP; names outside it do not exist. AAAA records are written as 32 hex digits. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const socket = createSocket('udp4');
  let queries = 0;
  socket.on('message', (query, from) => {
    queries += 1;
    const answer = answerTo(query, zone);
    if (answer !== null) socket.send(answer, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, queries: () => queries, close: () => socket.close() };
}

function answerTo(query: Buffer, zone: Zone): Buffer | null {
  const { name, type, end } = question(query);
  const entry = zone[name] ?? 'NXDOMAIN';
  if (entry === 'hang') return null;
  if (typeof entry === 'string') return message(query, end, responseCodes[entry], []);
  const v4 = (entry.a ?? []).map((address) => Buffer.from(address.split('.').map(Number)));
  const v6 = (entry.aaaa ?? []).map((hex) => Buffer.from(hex, 'hex'));
  const data = type === typeA ? v4 : type === typeAaaa ? v6 : [];
  return message(
    query,
    end,
    0,
    data.map((bytes) => record(type, entry.ttl ?? 300, bytes)),
  );
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let offset = 12;
  while (query.readUInt8(offset) !== 0) {
    const length = query.readUInt8(offset);
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(offset + 1), end: offset + 5 };
}

function message(query: Buffer, end: number, rcode: number, records: Buffer[]): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8180 | rcode, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, query.subarray(12, end), ...records]);
}

function record(type: number, ttl: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
