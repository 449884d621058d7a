import { expect } from 'chai';
import { setImmediate as later } from 'node:timers/promises';
import { ByteRoom } from '../../src/runs/byte-room.ts';

const never = new AbortController().signal;

describe('room for bytes', () => {
  let room: ByteRoom;
  let inside: string[];
  beforeEach(() => {
    room = new ByteRoom({ total: 10, perAccount: 6 });
    inside = [];
  });

  const enter = (name: string, account: number, bytes: number, signal = never) =>
    room.take({ account, bytes }, signal).then((release) => {
      inside.push(name);
      return release;
    });

  it('has each account wait for its own bytes, and nobody else', async () => {
    const first = await enter('a1', 1, 5);
    const second = enter('a2', 1, 2);
    void enter('a3', 1, 1);
    await enter('b1', 2, 3);
    await later();
    // The third would fit, but came after one that does not.
    expect(inside).to.deep.equal(['a1', 'b1']);
    first();
    await second;
    await later();
    expect(inside).to.deep.equal(['a1', 'b1', 'a2', 'a3']);
  });

  it('has all wait in order while all together hold too much, and never exceeds its bounds', async () => {
    const first = await enter('a', 1, 6);
    const second = await enter('b', 2, 4);
    void enter('c', 3, 5);
    void enter('d', 4, 1);
    await later();
    expect(inside).to.deep.equal(['a', 'b']);
    second();
    await later();
    expect(inside, 'smaller ones do not pass a larger one').to.deep.equal(['a', 'b']);
    first();
    await later();
    expect(inside).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('lets those go on who wait behind one that gives up', async () => {
    await enter('a', 1, 6);
    const giving = new AbortController();
    const gone = enter('b', 2, 6, giving.signal).catch((error: Error) => error.message);
    void enter('c', 3, 3);
    giving.abort(new Error('ended'));
    expect(await gone).to.equal('ended');
    await later();
    expect(inside).to.deep.equal(['a', 'c']);
    expect(await enter('d', 4, 1, AbortSignal.abort(new Error('before'))).catch(String)).to.equal('Error: before');
  });
});
