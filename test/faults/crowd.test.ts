import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { Receiver } from '../support/receiver.ts';

const hanging = 34;
const conversations = 12;

// Takes connections and never says a word.
async function startSilentServer(): Promise<{ server: Server; url: string; close: () => void }> {
  const sockets = new Set<{ destroy: () => void }>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

describe('a crowd of receivers that hang', function () {
  this.timeout(60_000);
  let app: TestApp;
  let silent: Awaited<ReturnType<typeof startSilentServer>>;
  let receiver: Receiver;

  before(async () => {
    app = await TestApp.start();
    silent = await startSilentServer();
    receiver = await Receiver.start();
  });

  after(async () => {
    silent.close();
    await app.stop();
    await receiver.close();
  });

  it('does not keep a healthy webhook, nor a bot, from hearing of another conversation', async () => {
    const { id: inboxId } = (await app.get('inboxes')).body.payload[0];
    const crowded = await app.post('inboxes', { name: 'Crowded', channel_type: 'Channel::Api' });
    const contact = await app.post('contacts', { name: 'Customer' });
    const subscriptions = ['message_created'];
    for (let count = 0; count < hanging; count++) {
      await app.post('webhooks', { url: `${silent.url}/${count}`, subscriptions, inbox_id: crowded.body.id });
    }
    await app.post('webhooks', { url: receiver.url, subscriptions, inbox_id: inboxId });
    for (let count = 0; count < conversations; count++) {
      const { body } = await app.post('conversations', { inbox_id: crowded.body.id, contact_id: contact.body.id });
      await app.post(`conversations/${body.id}/messages`, { content: 'Hello', message_type: 'incoming' });
    }
    const { body } = await app.post('conversations', { inbox_id: inboxId, contact_id: contact.body.id });
    await app.post(`conversations/${body.id}/messages`, { content: 'opening hours?', message_type: 'incoming' });
    // Those that hang do so for ten seconds.
    const [question, answer] = await receiver.waitFor(2, 5_000);
    expect([question?.body.message_type, answer?.body.message_type]).to.deep.equal(['incoming', 'outgoing']);
  });
});
