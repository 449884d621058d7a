import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { systemRandom } from '../../src/lib/ports.ts';
import { createSecretBox } from '../../src/lib/secrets/secret-box.ts';
import { EventStreams } from '../../src/live/streams.ts';
import { assertShape } from '../../src/schemas.ts';
import { TestApp } from '../support/app.ts';
import { EventSource } from '../support/event-source.ts';
import { Maker } from '../support/maker.ts';
import { addAccount, type Person } from '../support/people.ts';
import { StatementLog } from '../support/statement-log.ts';

describe('streams of events', function () {
  this.timeout(60_000);
  let app: TestApp;
  let accounts = 0;
  let open: EventSource[] = [];

  before(async () => {
    app = await TestApp.start({ config: { eventStreamsPerAccount: 3 } });
  });

  after(() => app.stop());

  afterEach(async () => {
    await Promise.all(open.map((source) => source.close()));
    open = [];
  });

  /** A new account with an inbox and a conversation. */
  async function furnish() {
    accounts += 1;
    const { id, administrator } = await addAccount(app, `Follower ${accounts}`);
    const maker = new Maker(app, id, { mark: `F${accounts}`, administrator });
    const member = await maker.agent();
    const inbox = await maker.inbox({ members: [member] });
    const conversation = await maker.conversation(inbox);
    const path = `/api/v1/accounts/${id}/events`;
    const follow = async (query = '', headers: Record<string, string> = administrator.headers) => {
      const source = await EventSource.open({ url: `${app.url}${path}/stream?${query}`, headers });
      open.push(source);
      return source;
    };
    return { id, path, maker, administrator, member, inbox, conversation, follow };
  }

  const until = (probe: () => boolean | Promise<boolean>) => app.eventually(async () => await probe());
  const namesOf = (source: EventSource) => source.events.map(({ name }) => name);
  const placed = () =>
    app.eventually(async () => (await app.query('SELECT FROM unplaced_events LIMIT 1')).length === 0);

  it('send what is committed from now on, as the feed shows it', async () => {
    const { path, maker, administrator, conversation, follow } = await furnish();
    await placed();
    const source = await follow();
    const { headers } = source.response!;
    expect(headers.get('content-type')).to.match(/^text\/event-stream/);
    expect([headers.get('cache-control'), headers.get('x-accel-buffering')]).to.deep.equal(['no-store', 'no']);
    await until(() => source.lastEventId !== '');
    const began = source.lastEventId;
    await maker.message(conversation);
    await maker.contact();
    await until(() => source.events.length === 2);
    expect(namesOf(source)).to.deep.equal(['message_created', 'contact_created']);
    for (const { data, id } of source.events) {
      assertShape('resources/event', data);
      expect(data.cursor).to.equal(id);
    }
    const { body } = await app.get(`${path}?after=${began}`, administrator.headers);
    const without = (entries: { cursor: string }[]) => entries.map((entry) => ({ ...entry, cursor: '' }));
    expect(without(source.events.map(({ data }) => data))).to.deep.equal(without(body.payload));
  });

  it('go on behind Last-Event-ID, or behind a cursor of the feed, and refuse what is no cursor', async () => {
    const { path, maker, administrator, conversation, follow } = await furnish();
    for (let count = 0; count < 5; count += 1) await maker.message(conversation);
    await placed();
    const feed = (await app.get(path, administrator.headers)).body.payload as { id: number; cursor: string }[];
    const ids = (source: EventSource) => source.events.map(({ data }) => data.id);
    const whole = feed.map(({ id }) => id);
    const after = await follow(`after=${feed[0]!.cursor}`);
    // A browser that comes back has the first cursor still in its URL.
    const back = await follow(`after=${feed[0]!.cursor}`, {
      ...administrator.headers,
      'last-event-id': feed[2]!.cursor,
    });
    await until(() => after.events.length === whole.length - 1 && back.events.length === whole.length - 3);
    expect(ids(after)).to.deep.equal(whole.slice(1));
    expect(ids(back)).to.deep.equal(whole.slice(3));
    const forged = { ...administrator.headers, 'last-event-id': 'forged' };
    expect((await app.get(`${path}/stream`, forged)).status).to.equal(400);
    expect((await app.get(`${path}/stream?types=nothing_like_it`, administrator.headers)).status).to.equal(400);
    expect((await app.get(`${path}/stream?conversation_id=999999`, administrator.headers)).status).to.equal(404);
  });

  it('send what is asked for, and to agents what they may see at that moment', async () => {
    const { maker, member, inbox, conversation, follow } = await furnish();
    const other = await maker.conversation(await maker.inbox());
    await placed();
    const [all, ofTypes, ofOne] = await Promise.all([
      follow('', member.headers),
      follow('types=message_created'),
      follow(`conversation_id=${other}`),
    ]);
    await maker.message(other);
    await maker.contact();
    await maker.message(conversation);
    await until(() => ofTypes.events.length === 2 && all.events.length === 1 && ofOne.events.length === 1);
    expect(all.events[0]!.data.conversation_id).to.equal(conversation);
    expect(ofOne.events[0]!.data.conversation_id).to.equal(other);
    expect(namesOf(ofTypes)).to.deep.equal(['message_created', 'message_created']);
    await maker.call('DELETE', `inboxes/${inbox}/members`, { user_ids: [member.id] });
    await maker.message(conversation);
    await until(() => ofTypes.events.length === 3);
    expect(all.events).to.have.lengthOf(1);
  });

  it('end when the token is revoked, the role is lost or the agent removed, and send nothing from then on', async () => {
    const { maker, conversation, follow } = await furnish();
    const [revoked, demoted, removed] = [
      await maker.agent('administrator'),
      await maker.agent('administrator'),
      await maker.agent('administrator'),
    ];
    await placed();
    const sources: EventSource[] = [];
    for (const { headers } of [revoked, demoted, removed]) sources.push(await follow('', headers));
    await app.post('/api/v1/profile/reset_access_token', {}, revoked.headers);
    await maker.call('PATCH', `agents/${demoted.id}`, { role: 'agent' });
    await maker.call('DELETE', `agents/${removed.id}`);
    await maker.message(conversation);
    await Promise.all(sources.map((source) => source.ended));
    expect(sources.flatMap(namesOf)).to.not.include('message_created');
  });

  it('end for who loses the token while nothing happens', async () => {
    const { maker, follow } = await furnish();
    const silent = await maker.agent();
    const source = await follow('', silent.headers);
    await app.post('/api/v1/profile/reset_access_token', {}, silent.headers);
    await source.ended;
  });

  it('open by a ticket, once, in the account and in the name of who got it', async () => {
    const { path, maker, conversation, member, follow } = await furnish();
    const stranger = await furnish();
    const grant = async (by: Person, where = path) => {
      const { status, body } = await app.post(`${where}/ticket`, {}, by.headers);
      expect(status).to.equal(201);
      expect(body.expires_at).to.be.closeTo(Date.now() / 1000 + 30, 25);
      return body.ticket as string;
    };
    const ticket = await grant(member);
    await placed();
    const source = await follow(`ticket=${ticket}`, {});
    await maker.message(conversation);
    await maker.contact();
    await until(() => source.events.length > 0);
    const refused = async (query: string, where = path) => {
      const response = await fetch(`${app.url}${where}/stream?${query}`);
      expect(response.status, query).to.equal(401);
      await response.text();
    };
    await refused(`ticket=${ticket}`);
    await refused('ticket=');
    await refused('ticket=swt_0');
    await refused(`ticket=${await grant(member)}`, stranger.path);
    const late = await grant(member);
    await app.query(`UPDATE stream_tickets SET expires_at = now() - interval '1 second'`);
    await refused(`ticket=${late}`);
    const dead = await grant(member);
    await app.post('/api/v1/profile/reset_access_token', {}, member.headers);
    await refused(`ticket=${dead}`);
    expect(namesOf(source)).to.deep.equal(['message_created']);
    // For the stream only.
    const admin = await app.post(`${path}/ticket`, {}, maker.administrator.headers);
    expect((await fetch(`${app.url}${path}?ticket=${admin.body.ticket}`)).status).to.equal(401);
  });

  it('are as many for an account as it may have; a closed one makes room, and a HEAD takes none', async () => {
    const { path, administrator, follow } = await furnish();
    const head = await fetch(`${app.url}${path}/stream`, { method: 'HEAD', headers: administrator.headers });
    expect(head.status).to.equal(200);
    const sources = [await follow(), await follow(), await follow()];
    const { status, headers, body } = await app.get(`${path}/stream`, administrator.headers);
    expect([status, body.code, Number(headers.get('retry-after')) > 0]).to.deep.equal([429, 'too_many_streams', true]);
    await sources[0]!.close();
    await until(async () => (await app.get(`${path}/stream`, administrator.headers)).status === 200);
  });

  it('send what another process places, by one read for all of them, and look twice a while when nothing happens', async () => {
    const log = new StatementLog();
    const engine = await TestApp.start();
    const { id, administrator } = await addAccount(engine, 'Elsewhere');
    const web = await TestApp.start({ databaseUrl: engine.databaseUrl, engine: false });
    const sources: EventSource[] = [];
    // Streams write nothing: what does is the engine or its upkeep, in this process too.
    const ofStreams = (texts: string[]) =>
      texts.filter(
        (text) =>
          /scanned|token_hash, account_id|= ANY/.test(text) && !/INSERT INTO|DELETE FROM|UPDATE \w+ SET/.test(text),
      );
    try {
      for (let count = 0; count < 5; count += 1) {
        const url = `${web.url}/api/v1/accounts/${id}/events/stream`;
        sources.push(await EventSource.open({ url, headers: administrator.headers }));
      }
      await until(() => sources.every(({ lastEventId }) => lastEventId !== ''));
      const began = performance.now();
      const secondsSince = (moment: number) => Math.ceil((performance.now() - moment) / 1000);
      const reading = await log.during(async () => {
        await engine.call('POST', `/api/v1/accounts/${id}/contacts`, { name: 'Customer' }, administrator.headers);
        await until(() => sources.every(({ events }) => events.length === 1));
      });
      // Each second that passes meanwhile is a look of its own; a read for each stream would be five.
      const reads = ofStreams(reading).filter((text) => text.includes('scanned'));
      expect(reads).to.have.length.within(1, 1 + secondsSince(began));
      const begun = performance.now();
      const resting = await log.during(() => sleep(3_500));
      expect(ofStreams(resting)).to.have.length.within(1, secondsSince(begun));
    } finally {
      log.close();
      await Promise.all(sources.map((source) => source.close()));
      await web.app.stop();
      await engine.stop();
    }
  });

  it('end with the service, which does not wait for them', async () => {
    const short = await TestApp.start();
    const { id, administrator } = await addAccount(short, 'Short');
    const source = await EventSource.open({
      url: `${short.url}/api/v1/accounts/${id}/events/stream`,
      headers: administrator.headers,
    });
    await short.stop();
    await source.ended;
    expect(source.isBroken).to.equal(false);
  });
});

describe('the heartbeat of streams', () => {
  it('comes every 15 seconds, unless it is told otherwise', () => {
    mock.timers.enable({ apis: ['setInterval'] });
    const standing = { tokenHash: Buffer.alloc(32), accountId: 1, agentId: 7, role: 'administrator' as const };
    const following = { standing, place: { position: 0, floor: 0 }, types: null, conversationId: null };
    const failed: unknown[] = [];
    const streams = new EventStreams({
      // No heartbeat asks it.
      database: null as never,
      secretBox: createSecretBox('a key of this test', systemRandom),
      perAccount: 1,
      visitors: { perInbox: 1, perAddress: 1 },
      failed: (error) => failed.push(error),
    });
    const stream = streams.open(following);
    const beats = () => String(stream.read() ?? '').split(': heartbeat').length - 1;
    try {
      expect(beats()).to.equal(0);
      mock.timers.tick(14_999);
      expect(beats()).to.equal(0);
      mock.timers.tick(1);
      expect(beats()).to.equal(1);
      mock.timers.tick(30_000);
      expect(beats()).to.equal(2);
    } finally {
      stream.destroy();
      mock.timers.reset();
    }
  });
});
