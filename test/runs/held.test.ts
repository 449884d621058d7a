import { expect } from 'chai';
import { pino } from 'pino';
import { alarmsOf } from '../../src/app/alarms.ts';
import { ObjectStore } from '../../src/objects/object-store.ts';
import { systemClock } from '../../src/lib/ports.ts';
import { MailServer } from '../support/mail-server.ts';
import { FakeModelServer } from '../support/model-server.ts';
import { ObjectServer, objectKeys } from '../support/object-server.ts';
import { Receiver } from '../support/receiver.ts';
import { BotHouse } from './house.ts';

const bucket = 'files';
const bots = {
  caller: {
    on: {
      message_created: `const code = async (call) => { try { await call() } catch (error) { return error.code } };
        ctx.reply([await code(() => ctx.fetch('https://shop.example/')), await code(() => ctx.llm.chat({ messages: [{ role: 'user', content: 'x' }] }))].join())`,
    },
    permissions: { network: { hosts: ['shop.example'], methods: ['GET'] }, llm: true, conversation: ['reply'] },
  },
};
const outboundWait = { reason: 'outbound', delivery_id: null, until: null };

describe('a service whose OUTBOUND is off', function () {
  this.timeout(120_000);
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text)) });
  let house: BotHouse;
  let mail: MailServer;
  let model: FakeModelServer;
  let server: Receiver;
  let objects: ObjectServer;

  before(async () => {
    [mail, model, server, objects] = await Promise.all([
      MailServer.start(),
      FakeModelServer.start(),
      Receiver.start(),
      ObjectServer.start(),
    ]);
    const config = {
      outbound: 'off',
      smtpUrl: mail.url,
      mailFrom: 'desk@example.com',
      llmBaseUrl: model.baseUrl,
      llmModel: 'm',
      burstQuietMs: 0,
      attachmentS3Endpoint: objects.url,
      attachmentS3Bucket: bucket,
      attachmentS3Region: objectKeys.region,
      attachmentS3AccessKeyId: objectKeys.accessKeyId,
      attachmentS3SecretAccessKey: objectKeys.secretAccessKey,
    } as const;
    house = await BotHouse.open(bots, { shipped: ['ai-bot'], config, log });
  });

  after(async () => {
    await house?.close();
    await Promise.all([mail.close(), model.close(), server.close(), objects.stop()]);
  });

  it('refuses the calls of plugins and their questions to models; their bots go on', async () => {
    const { run } = await house.askAnew('caller');
    expect(run.actions).to.deep.include.members([{ type: 'reply', content: 'outbound_held,outbound_held' }]);
    expect(model.questions).to.deep.equal([]);
  });

  it('holds bots on servers and bots that ask a model, and says so', async () => {
    const { app } = house;
    const made = await Promise.all([
      app.post('agent_bots', {
        name: 'On a server',
        kind: 'webhook',
        outgoing_url: server.url.replace('http:', 'https:'),
      }),
      app.post('agent_bots', { name: 'Asks a model', kind: 'ai', system_prompt: 'Be kind.' }),
    ]);
    for (const { status, body } of made) {
      expect(status, JSON.stringify(body)).to.equal(201);
      const inbox = (await app.post('inboxes', { name: body.name, channel: { type: 'api' } })).body.id;
      await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: body.id });
      const contact = (await app.post('contacts', { name: 'Customer' })).body.id;
      const conversation = (await app.post('conversations', { inbox_id: inbox, contact_id: contact })).body.id;
      await house.say(conversation);
      // A bot inside of the service answers afterwards: by then, the engine has looked at these.
      await house.askAnew('caller');
      const [delivery] = (await app.get(`agent_bots/${body.id}/deliveries`)).body.payload;
      expect(delivery).to.deep.include({ state: 'pending', attempts: 0, waits_for: outboundWait });
    }
    expect([server.received, model.questions]).to.deep.equal([[], []]);
  });

  it('logs mail with its link', async () => {
    const { status } = await house.app.post('agents', { name: 'Ada', email: 'ada@example.com', role: 'agent' });
    expect(status).to.equal(201);
    const line = await house.app.eventually(async () => lines.find(({ to }) => to === 'ada@example.com'));
    expect(line['msg']).to.equal('mail not sent: this service sends nothing');
    expect(line['link']).to.match(/^http:.*invitation/);
    expect(mail.received).to.deep.equal([]);
  });

  it('deletes no objects: neither by its sweep nor in any other way', async () => {
    const { app } = house.app;
    await house.app.query(`INSERT INTO discarded_objects (object_key) VALUES ('kept')`);
    objects.objects.set(`/${bucket}/kept`, Buffer.from('bytes'));
    const gate = { heldFor: 'off' } as const;
    const store = new ObjectStore({
      ...objectKeys,
      endpoint: objects.url,
      bucket,
      timeoutMs: 3_000,
      clock: systemClock,
      gate,
    });
    const days = { retentionDays: 30, runRetentionDays: 30, reportRetentionDays: 30 };
    const alarms = alarmsOf(app.database, {
      ...days,
      objects: store,
      gate,
      retry: () => undefined,
      embed: () => undefined,
      checkChannels: () => undefined,
    });
    await alarms.find(({ name }) => name === 'delete-objects')?.ring();
    const refused = await store.remove('kept').catch((error: Error) => error.message);
    expect(refused).to.equal('DELETE kept: nothing is sent');
    expect(objects.asked.filter((line) => line.startsWith('DELETE'))).to.deep.equal([]);
    expect(await house.app.query('SELECT object_key FROM discarded_objects')).to.deep.equal([{ object_key: 'kept' }]);
    await store.close();
  });
});
