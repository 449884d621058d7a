import { expect } from 'chai';
import { pino } from 'pino';
import { openGate } from '../../../src/lib/outbound-gate.ts';
import { alarmsOf } from '../../../src/app/alarms.ts';
import { deleteDiscardedObjects } from '../../../src/domain/upkeep/discarded-objects.ts';
import { deleteUnsentFiles } from '../../../src/domain/upkeep/unsent-files.ts';
import { ObjectStore } from '../../../src/objects/object-store.ts';
import { systemClock } from '../../../src/lib/ports.ts';
import { TestApp } from '../../support/app.ts';
import { noise, sendFiles, storedFiles, type TestFile } from '../../support/files.ts';
import { ObjectServer, objectKeys } from '../../support/object-server.ts';
import { addContact, addConversation, addInbox } from '../../support/records.ts';

const large: TestFile = { name: 'large.bin', bytes: noise(3_000_000) };
const small: TestFile = { name: 'a.txt', bytes: Buffer.from('some text') };
const bucket = 'files-of-tests';

describe('attachments in an object store', function () {
  this.timeout(60_000);
  let app: TestApp;
  let server: ObjectServer;
  let objects: ObjectStore;
  let inbox: number;
  let contactId: number;
  let path: string;

  before(async () => {
    server = await ObjectServer.start();
    app = await TestApp.start({
      engine: false,
      config: {
        attachmentS3Endpoint: server.url,
        attachmentS3Bucket: bucket,
        attachmentS3Region: objectKeys.region,
        attachmentS3AccessKeyId: objectKeys.accessKeyId,
        attachmentS3SecretAccessKey: objectKeys.secretAccessKey,
        attachmentS3TimeoutMs: 3_000,
      },
    });
    objects = new ObjectStore({
      endpoint: server.url,
      bucket,
      ...objectKeys,
      timeoutMs: 3_000,
      clock: systemClock,
      gate: openGate,
    });
    inbox = await addInbox(app);
  });

  beforeEach(async () => {
    await app.query('DELETE FROM attachments');
    await app.query('DELETE FROM discarded_objects');
    server.objects.clear();
    contactId = await addContact(app);
    path = `conversations/${await addConversation(app, inbox, { contactId })}/messages`;
    await app.events();
    server.asked.length = 0;
  });

  afterEach(() => (server.broken = null));

  after(async () => {
    await app.stop();
    await objects.close();
    await server.stop();
  });

  const send = (...files: TestFile[]) => sendFiles(app, path, { content: 'x', message_type: 'outgoing' }, { files });
  const discarded = async () =>
    (await app.query<{ count: number }>('SELECT count(*) AS count FROM discarded_objects'))[0]!.count;
  const sweep = () => deleteDiscardedObjects(app.app.database, objects);
  const sweepLater = async () => {
    await app.query(`UPDATE discarded_objects SET discarded_at = discarded_at - interval '61 minutes'`);
    return sweep();
  };

  it('are kept there alone, and come back whole and in parts', async () => {
    const { status, body } = await send(large, small);
    expect(status, body.error).to.equal(201);
    expect(await storedFiles(app)).to.deep.equal({ files: 2, unsent: 0, chunks: 0 });
    expect([...server.objects.values()].map(({ length }) => length)).to.have.members([3_000_000, 9]);
    for (const key of server.objects.keys()) expect(key).to.match(/^\/files-of-tests\/attachments\/1\/[0-9a-f]{48}$/);
    const { data_url: url } = body.attachments[0];
    expect(url).to.match(new RegExp(`^${app.url}/files/`));
    const whole = await fetch(url);
    expect(Buffer.from(await whole.arrayBuffer()).equals(large.bytes)).to.equal(true);
    const part = await fetch(url, { headers: { range: 'bytes=1048570-2097160' } });
    expect(part.status).to.equal(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(large.bytes.subarray(1_048_570, 2_097_161))).to.equal(true);
    expect(await app.eventNames()).to.deep.equal(['message_created']);
  });

  it('are not sent while the store fails or hangs: 503, nothing said, and nothing left in the end', async () => {
    for (const broken of ['fails', 'hangs'] as const) {
      server.broken = broken;
      const { status, body, headers } = await send(small);
      expect(status).to.equal(503);
      expect(body.code).to.equal('storage_unavailable');
      expect(body.error).to.not.include('TESTKEY');
      expect(headers.get('retry-after')).to.equal('5');
      expect(await storedFiles(app)).to.include({ files: 0 });
    }
    expect(server.asked.filter((one) => one.startsWith('PUT'))).to.have.length(4);
    expect(await app.eventNames()).to.deep.equal([]);
    server.broken = null;
    expect(await discarded()).to.equal(2);
    expect(await sweepLater()).to.equal(2);
    expect(await discarded()).to.equal(0);
    expect((await send(small)).status).to.equal(201);
  });

  it('that come into the store after nobody waited for them any more are deleted from it', async () => {
    server.broken = 'late';
    expect((await send(small)).status).to.equal(503);
    server.broken = null;
    // A deletion would come before the object.
    expect(await sweep()).to.equal(0);
    await app.eventually(async () => server.pending === 0);
    expect(server.objects.size).to.equal(1);
    expect(await sweepLater()).to.equal(1);
    expect(server.objects.size).to.equal(0);
    expect(await storedFiles(app)).to.include({ files: 0 });
  });

  it('of a message whose other files cannot be kept are not kept either', async () => {
    server.broken = 'fails at the second';
    expect((await send(small, { ...small, name: 'b.txt' })).status).to.equal(503);
    expect(server.objects.size).to.equal(1);
    expect(await storedFiles(app)).to.include({ files: 0 });
    server.broken = null;
    expect(await sweep()).to.equal(1);
    expect(server.objects.size).to.equal(0);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('that cannot be read are answered 503, which nobody keeps, and 404 where the object is gone', async () => {
    const { body } = await send(small);
    const { data_url: url } = body.attachments[0];
    server.broken = 'fails';
    const failed = await fetch(url);
    expect(failed.status).to.equal(503);
    expect(failed.headers.get('cache-control')).to.equal('no-store');
    expect(failed.headers.has('content-disposition')).to.equal(false);
    server.broken = null;
    server.objects.clear();
    expect((await fetch(url)).status).to.equal(404);
  });

  it('are deleted with message, conversation, contact and account, and when no message got them', async () => {
    const first = (await send(small)).body;
    await app.delete(`${path}/${first.id}`);
    expect(await discarded()).to.equal(1);
    expect(await sweep()).to.equal(1);
    expect(server.objects.size).to.equal(0);
    await send(small, large);
    await app.delete(`contacts/${contactId}`);
    expect(await discarded()).to.equal(2);
    expect(await sweep()).to.equal(2);
    expect(server.objects.size).to.equal(0);
    await app.query(
      `INSERT INTO attachments (account_id, object_key, created_at) VALUES (1, 'attachments/1/lost', now() - interval '2 hours')`,
    );
    server.objects.set(`/${bucket}/attachments/1/lost`, small.bytes);
    expect(await deleteUnsentFiles(app.app.database)).to.equal(1);
    expect(await sweep()).to.equal(1);
    expect(server.objects.size).to.equal(0);
    expect(await sweep()).to.equal(0);
  });

  it('that the store refuses to delete are tried again, hold back no others, and are forgotten after a month', async () => {
    await app.query(
      `INSERT INTO discarded_objects (object_key, discarded_at)
       VALUES ('a', now() - interval '31 days'), ('locked', now() - interval '2 s'), ('c', now())`,
    );
    expect(await sweep()).to.equal(1);
    const rows = await app.query<{ object_key: string }>('SELECT object_key FROM discarded_objects');
    expect(rows).to.deep.equal([{ object_key: 'locked' }]);
    expect(server.asked).to.deep.equal([`DELETE /${bucket}/locked`, `DELETE /${bucket}/c`]);
  });

  it('in a store that hangs hold nothing up but each other: it is asked for one, told of, and then left alone', async () => {
    let now = Date.now();
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
    const clock = { now: () => new Date(now) };
    const other = await TestApp.start({ engine: false, databaseUrl: app.databaseUrl, log, clock });
    try {
      const days = { retentionDays: 30, runRetentionDays: 30, reportRetentionDays: 30 };
      const looks = { retry: () => undefined, embed: () => undefined, checkChannels: () => undefined };
      const alarms = alarmsOf(other.app.database, { ...days, ...looks, objects, gate: openGate });
      const ring = (name: string) => alarms.find((alarm) => alarm.name === name)!.ring();
      await app.query(`INSERT INTO discarded_objects (object_key) VALUES ('a'), ('b'), ('c')`);
      server.broken = 'hangs';
      let isHeld = true;
      const rings = Promise.all([ring('delete-objects'), ring('delete-objects')]).finally(() => (isHeld = false));
      await app.eventually(async () => server.asked.length > 0);
      await Promise.all([ring('finish-leftovers'), ring('do-what-is-due'), ring('delete-old-rows')]);
      expect(isHeld, 'the store was still asked').to.equal(true);
      await rings;
      expect(server.asked).to.deep.equal([`DELETE /${bucket}/a`, `DELETE /${bucket}/a`]);
      expect(lines).to.have.lengthOf(1);
      expect(lines[0]).to.include('the object store could not be done');
      server.broken = null;
      await ring('delete-objects');
      expect(await discarded()).to.equal(3);
      now += 10_000;
      await ring('delete-objects');
      expect(await discarded()).to.equal(0);
      expect(lines).to.have.lengthOf(1);
    } finally {
      await other.app.stop();
    }
  });

  it('that the database has are read from there, with a store or without', async () => {
    const plain = await TestApp.start({ engine: false, databaseUrl: app.databaseUrl });
    try {
      const here = (await sendFiles(plain, path, { content: 'x', message_type: 'outgoing' }, { files: [small] })).body;
      expect(await storedFiles(app)).to.include({ chunks: 1 });
      const { pathname } = new URL(here.attachments[0].data_url);
      expect(await (await fetch(app.url + pathname)).text()).to.equal('some text');
      const there = (await send(small)).body;
      const elsewhere = new URL(there.attachments[0].data_url).pathname;
      expect((await fetch(plain.url + elsewhere)).status).to.equal(503);
    } finally {
      await plain.app.stop();
    }
  });
});
