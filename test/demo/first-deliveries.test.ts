import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { ReceiverServer } from '../../src/demo/receiver-server.ts';
import { TestApp } from '../support/app.ts';

const slowMs = 1_000;
/** What the demonstration's data say. */
const contacts = ['contact_created', 'contact_created', 'contact_created'];

type Listen = (this: ReceiverServer) => Promise<void>;

/** Has receivers take their time until they listen, as on a busy machine. Returns what ends that. */
function slowDown(): () => void {
  const listen: Listen = Reflect.get(ReceiverServer.prototype, 'listen');
  ReceiverServer.prototype.listen = async function (): Promise<void> {
    await sleep(slowMs);
    return listen.call(this);
  };
  return () => void (ReceiverServer.prototype.listen = listen);
}

describe('the first deliveries of a start', function () {
  it('wait until what they go to listens, however long that takes', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });
    const config = { demo: true, secretKey: 'a key of the tests of first deliveries alone', outboundAllowCidrs: [] };
    const hurry = slowDown();
    const app = await TestApp.start({ furnishing: null, config, log }).finally(hurry);
    const sent = await app.eventually(async () => {
      const { payload } = (await app.get('deliveries')).body;
      return payload.every(({ state }: { state: string }) => state === 'delivered') && payload;
    });
    expect(sent.map(({ event, attempts }: Record<string, unknown>) => [event, attempts])).to.deep.equal(
      contacts.map((event) => [event, 1]),
    );
    expect(lines.filter(({ msg }) => msg === 'delivery failed')).to.deep.equal([]);
    expect(await app.eventNames()).to.deep.equal(contacts);
    await app.stop();
  });
});
