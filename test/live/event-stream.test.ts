import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { EventStream, type Following } from '../../src/live/event-stream.ts';
import type { WrittenEvent } from '../../src/live/live-stream.ts';

const standing = { tokenHash: Buffer.alloc(32), accountId: 1, agentId: 7, role: 'administrator' as const };
const following: Following = { standing, place: { position: 0, floor: 0 }, types: null, conversationId: null };
const nothing = (): undefined => undefined;
const cursorOf = ({ position }: { position: number }) => `at-${position}`;

function eventsUpTo(last: number, bytes: number): WrittenEvent[] {
  return Array.from({ length: last }, (_, index) => ({
    position: index + 1,
    id: index + 1,
    name: 'message_created',
    conversationId: 1,
    sequence: index + 1,
    payload: null,
    createdAt: new Date(0),
    viewers: undefined,
    bytes: Buffer.from(`${index + 1},`.padEnd(bytes, ' ')),
  }));
}

/** A client that reads nothing until it is let. */
function slowClient(stream: EventStream): { read: () => Promise<number[]> } {
  let text = '';
  let go: (() => void) | null = null;
  let isLet = false;
  const client = new Writable({
    highWaterMark: 1,
    write: (chunk, _, done) => {
      text += String(chunk);
      if (isLet) done();
      else go = done;
    },
  });
  stream.pipe(client);
  return {
    read: async () => {
      isLet = true;
      go?.();
      go = null;
      for (let turns = 0; turns < 50; turns += 1) await turn();
      isLet = false;
      return text
        .split(/[,\s]+/)
        .filter((word) => /^\d+$/.test(word))
        .map(Number);
    },
  };
}

describe('a stream of events', () => {
  it('keeps little for a client that does not read, and goes on where that was when there is room', async () => {
    let room = 0;
    const stream = new EventStream(following, () => (room += 1));
    const client = slowClient(stream);
    await turn();
    const events = eventsUpTo(1_000, 1_024);
    const reached = { position: 1_000, floor: 0 };
    stream.give(events, reached);
    expect(stream.hasRoom).to.equal(false);
    const { position } = stream.place;
    expect(position).to.be.lessThan(100);
    stream.give(events, reached);
    expect(stream.place.position).to.equal(position);
    while (stream.place.position < 1_000) {
      const before = room;
      await client.read();
      expect(room).to.equal(before + 1);
      stream.give(events, reached);
    }
    expect(await client.read()).to.deep.equal(events.map((event) => event.position));
  });

  it('shows that it lives, and its place where that has moved without an event', async () => {
    const stream = new EventStream({ ...following, types: new Set(['contact_created']) }, nothing);
    let text = '';
    stream.on('data', (chunk) => (text += String(chunk)));
    stream.open(1_000, cursorOf);
    stream.beat(cursorOf);
    stream.give(eventsUpTo(3, 10), { position: 3, floor: 0 });
    stream.beat(cursorOf);
    await turn();
    expect(text).to.equal('retry: 1000\nid: at-0\n\n: heartbeat\n\n: heartbeat\nid: at-3\n\n');
  });

  it('is cut when the client reads nothing between two heartbeats', async () => {
    const stream = new EventStream(following, nothing);
    const client = slowClient(stream);
    await turn();
    stream.give(eventsUpTo(200, 1_024), { position: 200, floor: 0 });
    stream.beat(cursorOf);
    expect(stream.destroyed).to.equal(false);
    await client.read();
    stream.give(eventsUpTo(200, 1_024), { position: 200, floor: 0 });
    stream.beat(cursorOf);
    expect(stream.destroyed).to.equal(false);
    stream.beat(cursorOf);
    expect(stream.destroyed).to.equal(true);
  });
});
