import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { listenHttp, listenRaw, type Listener } from '../../outbound/listeners.ts';
import { selfSigned } from '../../outbound/certificate.ts';
import { TestApp } from '../../support/app.ts';
import { addAccount } from '../../support/people.ts';
import { addConversation, addInbox } from '../../support/records.ts';
import { Receiver } from '../../support/receiver.ts';

// oxlint-disable-next-line typescript/no-explicit-any
type Delivery = any;

const hour = 3600;

describe('the log of deliveries', () => {
  let app: TestApp;
  let receiver: Receiver;
  const listeners: Listener[] = [];

  before(async function () {
    this.timeout(60_000);
    app = await TestApp.start({ config: { webhookTimeoutMs: 2_000 } });
    receiver = await Receiver.start();
  });

  after(async () => {
    await app.stop();
    await receiver.close();
    for (const listener of listeners) await listener.close();
  });

  async function webhookAt(url: string, subscriptions = ['contact_created']): Promise<{ id: number; secret: string }> {
    const { status, body } = await app.post('webhooks', { url, subscriptions });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  }

  async function listed(path: string): Promise<Delivery[]> {
    const { status, body } = await app.get(path);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.payload;
  }

  /** All pages of a list. */
  async function whole(path: string): Promise<Delivery[]> {
    const found: Delivery[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { status, body } = await app.get(`${path}${path.includes('?') ? '&' : '?'}${cursor && `cursor=${cursor}`}`);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.payload.length).to.be.at.most(25);
      found.push(...body.payload);
      cursor = body.meta.next_cursor && encodeURIComponent(body.meta.next_cursor);
    }
    return found;
  }

  /** The record of the only delivery that a new contact causes at the address, when an attempt has ended. */
  async function deliver(url: string): Promise<{ webhook: { id: number; secret: string }; detail: Delivery }> {
    const webhook = await webhookAt(url);
    await app.post('contacts', { name: 'Ada' });
    const [delivery] = await app.eventually(async () => {
      const found = await listed(`webhooks/${webhook.id}/deliveries`);
      return found[0]?.attempts > 0 && found[0]?.state !== 'pending' && found;
    });
    const { body: detail } = await app.get(`deliveries/${delivery.id}`);
    await app.patch(`webhooks/${webhook.id}`, { active: false });
    return { webhook, detail };
  }

  it('shows a delivery with the request as it was signed, and the answer', async () => {
    receiver.answerWith((_, response) => {
      response.writeHead(202, { 'x-answer': 'yes', 'set-cookie': 'session=secret', 'content-type': 'text/plain' });
      response.end('thank\0 you');
    });
    const { webhook, detail } = await deliver(receiver.url);
    const { received } = receiver;
    const { headers, text } = received.at(-1)!;
    const { attempts, ...record } = detail;
    const told = (await app.events()).find(({ name }) => name === 'contact_created')!;
    expect(record).to.deep.equal({
      id: record.id,
      webhook_id: webhook.id,
      agent_bot_id: null,
      automation_id: null,
      endpoint_kind: 'webhook',
      event_id: told.id,
      event: 'contact_created',
      conversation_id: null,
      webhook_message_id: headers['webhook-id'],
      state: 'delivered',
      trigger: 'live',
      last_status: 202,
      last_error: null,
      next_attempt_at: null,
      waits_for: null,
      cancelled_by: null,
      created_at: record.created_at,
    });
    expect(attempts).to.have.length(1);
    const [attempt] = attempts;
    expect(attempt).to.deep.include({ number: 1, error: null });
    expect(attempt.started_at).to.be.closeTo(Date.now() / 1000, 60);
    expect(attempt.request.body).to.equal(text);
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'webhook-attempt', 'content-type']) {
      expect(attempt.request.headers[name], name).to.equal(headers[name]);
    }
    expect(() => new Webhook(webhook.secret).verify(attempt.request.body, attempt.request.headers)).not.to.throw();
    expect(JSON.stringify(detail)).not.to.contain(webhook.secret);
    expect(attempt.response).to.deep.include({ status: 202, body: 'thank\uFFFD you' });
    expect(attempt.response.headers).to.include({ 'x-answer': 'yes' }).and.not.have.property('set-cookie');
    const { times } = attempt;
    expect(times).to.include({ dns: null, tls: null });
    expect(times.first_byte).to.be.within(0, times.total);
    const [inList] = await listed(`webhooks/${webhook.id}/deliveries`);
    expect(inList).to.deep.equal({ ...record, attempts: 1 });
    expect((await listed('deliveries'))[0]).to.deep.equal(inList);
  });

  it('keeps the first 16 KB of a large answer, and counts it as delivered', async () => {
    receiver.answerWith((_, response) => response.end('é'.repeat(20_000)));
    const { detail } = await deliver(receiver.url);
    expect(detail).to.include({ state: 'delivered', last_status: 200 });
    expect(Buffer.byteLength(detail.attempts[0].response.body)).to.equal(16 * 1024);
  });

  const failures: Record<string, [errorClass: string, detail: RegExp, url: () => Promise<string>]> = {
    'does not resolve': ['dns', /^E/, async () => 'http://nowhere.invalid/'],
    'accepts no connection': ['connect', /ECONNREFUSED/, async () => 'http://127.0.0.1:9/'],
    'does not answer': [
      'timeout',
      /^no answer within \d+ ms$/,
      async () => addressOf(await listenHttp(() => undefined)),
    ],
    'answers 500': ['bad_status', /^500$/, async () => addressOf(await listenHttp((_, r) => r.writeHead(500).end()))],
    redirects: [
      'bad_status',
      /^302$/,
      async () => addressOf(await listenHttp((_, r) => r.writeHead(302, { location: receiver.url }).end())),
    ],
    'breaks off': ['reset', /./, async () => addressOf(await listenRaw((socket) => socket.resetAndDestroy()))],
    'speaks no HTTP': [
      'unknown',
      /HTTPParserError/,
      async () => addressOf(await listenRaw((socket) => socket.end('220 smtp\r\n'))),
    ],
    'has too many headers': [
      'too_large',
      /HEADERS_OVERFLOW/,
      async () => addressOf(await listenHttp((_, r) => r.writeHead(200, { 'x-long': 'a'.repeat(30_000) }).end())),
    ],
    'has a certificate that nobody vouches for': [
      'tls',
      /SELF_SIGNED/,
      async () => {
        const secure = await Receiver.start(selfSigned('localhost'));
        listeners.push({ close: () => secure.close() } as Listener);
        return secure.url;
      },
    ],
    'is a private address': ['blocked_address', /^not a public address$/, async () => 'http://rebound.test/'],
  };

  function addressOf(listener: Listener): string {
    listeners.push(listener);
    return `http://127.0.0.1:${listener.port}/`;
  }

  for (const [how, [errorClass, errorDetail, address]] of Object.entries(failures)) {
    it(`says ${errorClass} of a receiver that ${how}`, async () => {
      const { detail } =
        errorClass === 'blocked_address' ? await deliverTo(`http://10.0.0.1/`) : await deliver(await address());
      const { error, response, request, times } = detail.attempts[0];
      expect(error.class, JSON.stringify(error)).to.equal(errorClass);
      expect(error.detail).to.match(errorDetail);
      expect(detail.last_error).to.equal(errorClass);
      expect(response === null).to.equal(errorClass !== 'bad_status');
      expect(request.headers).to.include.keys('webhook-signature');
      expect(times.total).to.be.a('number');
      const ends = errorClass === 'blocked_address';
      expect(detail.state).to.equal(ends ? 'exhausted' : 'failing');
      if (ends) expect(detail.next_attempt_at).to.equal(null);
      else expect(detail.next_attempt_at).to.be.above(Date.now() / 1000 - 60);
    });
  }

  // A host that was public when it was registered.
  async function deliverTo(later: string): Promise<{ detail: Delivery }> {
    const webhook = await webhookAt('http://registered.invalid/');
    await app.query('UPDATE webhooks SET url = $2 WHERE id = $1', [webhook.id, later]);
    await app.post('contacts', { name: 'Ada' });
    const [delivery] = await app.eventually(async () => {
      const found = await listed(`webhooks/${webhook.id}/deliveries`);
      return found[0]?.state === 'exhausted' && found;
    });
    await app.patch(`webhooks/${webhook.id}`, { active: false });
    return { detail: (await app.get(`deliveries/${delivery.id}`)).body };
  }

  it('shows no answer that may repeat a deleted message', async () => {
    const webhook = await webhookAt(receiver.url, ['message_created']);
    receiver.answerWith(({ text }, response) => response.end(text));
    const place = `conversations/${await addConversation(app, await addInbox(app))}/messages`;
    const { body: message } = await app.post(place, { content: 'a secret word', message_type: 'incoming' });
    const { body: other } = await app.post(place, { content: 'another word', message_type: 'incoming' });
    const log = async () => {
      const deliveries = await listed(`webhooks/${webhook.id}/deliveries`);
      return Promise.all(deliveries.map(async ({ id }) => JSON.stringify((await app.get(`deliveries/${id}`)).body)));
    };
    await app.eventually(async () => {
      const delivered = (await log()).filter((text) => text.includes('"state":"delivered"'));
      return delivered.length === 2 ? delivered : null;
    });
    expect((await log()).join()).to.include('a secret word');
    expect((await app.delete(`${place}/${message.id}`)).status).to.equal(200);
    expect((await log()).join()).not.to.include('secret');
    expect(
      (await log()).filter((text) => text.includes('another word')),
      String(other.id),
    ).to.have.lengthOf(1);
    const bodies = await app.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM attempts WHERE response_body LIKE $1',
      ['%another%'],
    );
    expect(bodies[0]?.n).to.equal(1);
    await app.delete(`webhooks/${webhook.id}`);
    receiver.answerWith((_, response) => response.end());
  });

  it('of an attempt whose process ended without a result says that its end is not known', async () => {
    const { detail } = await deliver('http://127.0.0.1:9/');
    await app.query(
      `INSERT INTO attempts (account_id, delivery_id, number, outcome, error_code) VALUES (1, $1, 2, 'unknown', 'lease_expired')`,
      [detail.id],
    );
    const { attempts } = (await app.get(`deliveries/${detail.id}`)).body;
    expect(attempts[1]).to.deep.include({
      number: 2,
      error: { class: 'unknown', detail: 'lease_expired' },
      response: null,
    });
    expect(attempts[1].request.headers).to.deep.equal({});
  });

  describe('with many deliveries', () => {
    let webhook: number;
    let other: number;
    let inbox: number;
    let conversation: number;
    const from = 1_700_000_000;

    before(async () => {
      [{ id: webhook }, { id: other }] = [
        await webhookAt('http://127.0.0.1:9/a', ['message_created']),
        await webhookAt('http://127.0.0.1:9/b', ['message_created']),
      ];
      for (const id of [webhook, other]) await app.patch(`webhooks/${id}`, { active: false });
      inbox = (await app.get('inboxes')).body.payload[0].id;
      const contact = (await app.post('contacts', { name: 'Grace' })).body.id;
      conversation = (await app.post('conversations', { inbox_id: inbox, contact_id: contact, status: 'open' })).body
        .id;
      // 600 deliveries a minute apart, alternating between the webhooks, in all states.
      await app.query(
        `WITH event AS (
           INSERT INTO events (account_id, name, conversation_id, account_payload)
           SELECT 1, CASE WHEN g % 100 = 0 THEN 'message_updated' ELSE 'message_created' END,
             CASE WHEN g % 50 = 7 THEN $3::bigint END, '{}' FROM generate_series(1, 600) g RETURNING id, name, conversation_id
         ), numbered AS (SELECT id, conversation_id, row_number() OVER (ORDER BY id) AS g FROM event
         ), lane AS (
           INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
           SELECT 1, 'webhook', w, 'conversation', s, now() + interval '1 day'
           FROM unnest(ARRAY[$1::bigint, $2::bigint]) w, unnest(ARRAY[$3::bigint, 999999]) s RETURNING id, endpoint_id, subject_id)
         INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, failures, attempt,
           next_attempt_at, created_at)
         SELECT 1, n.id, lane.id, 'webhook', lane.endpoint_id,
           CASE WHEN g > 590 THEN 'pending' WHEN g % 10 = 1 THEN 'exhausted' WHEN g % 20 = 2 THEN 'cancelled'
             WHEN g % 30 = 3 THEN 'pending' ELSE 'delivered' END,
           CASE WHEN g % 30 = 3 AND g <= 590 THEN 1 ELSE 0 END, CASE WHEN g > 590 THEN 0 ELSE 1 END,
           now() + interval '1 day', to_timestamp($4 + 60 * g)
         FROM numbered n JOIN lane ON lane.endpoint_id = CASE WHEN g % 2 = 0 THEN $1 ELSE $2 END
           AND lane.subject_id = coalesce(n.conversation_id, 999999)`,
        [webhook, other, conversation, from],
      );
    });

    const range = `since=${from}&until=${from + 24 * hour}`;
    const numbersOf = (deliveries: Delivery[]) => deliveries.map(({ created_at: at }) => (at - from) / 60);
    const all = Array.from({ length: 600 }, (_, index) => 600 - index);

    it('tells each once, newest first, of all webhooks or of one', async () => {
      const found = await whole(`deliveries?${range}`);
      expect(numbersOf(found)).to.deep.equal(all);
      const ofOne = await whole(`webhooks/${webhook}/deliveries?${range}`);
      expect(numbersOf(ofOne)).to.deep.equal(all.filter((g) => g % 2 === 0));
      expect(new Set(ofOne.map(({ webhook_id: id }) => id))).to.deep.equal(new Set([webhook]));
    });

    const states: Record<string, (g: number) => boolean> = {
      pending: (g) => g > 590,
      exhausted: (g) => g <= 590 && g % 10 === 1,
      cancelled: (g) => g <= 590 && g % 20 === 2,
      failing: (g) => g <= 590 && g % 10 !== 1 && g % 20 !== 2 && g % 30 === 3,
      delivered: (g) => g <= 590 && g % 10 !== 1 && g % 20 !== 2 && g % 30 !== 3,
    };
    for (const [state, holds] of Object.entries(states)) {
      it(`finds those that are ${state}, and no others`, async () => {
        const found = await whole(`deliveries?${range}&state=${state}`);
        expect(numbersOf(found)).to.deep.equal(all.filter(holds));
        expect(new Set(found.map((delivery) => delivery.state))).to.deep.equal(new Set([state]));
        const ofOne = await whole(`webhooks/${webhook}/deliveries?${range}&state=${state}`);
        expect(numbersOf(ofOne)).to.deep.equal(all.filter((g) => holds(g) && g % 2 === 0));
      });
    }

    it('finds those of an event, of a conversation, and of a time: from `since` up to `until`, which is outside', async () => {
      expect(numbersOf(await whole(`deliveries?${range}&event=message_updated`))).to.deep.equal([
        600, 500, 400, 300, 200, 100,
      ]);
      expect(
        numbersOf(await whole(`deliveries?conversation_id=${conversation}&until=${from + 24 * hour}`)),
      ).to.deep.equal(all.filter((g) => g % 50 === 7));
      const some = await whole(`deliveries?since=${from + 60 * 100}&until=${from + 60 * 103}`);
      expect(numbersOf(some)).to.deep.equal([102, 101, 100]);
      const both = `deliveries?conversation_id=${conversation}&state=failing&${range}`;
      expect(numbersOf(await whole(both))).to.deep.equal(all.filter((g) => g % 50 === 7 && states['failing']!(g)));
    });

    it('goes on behind the last page while new deliveries come', async () => {
      const first = (await app.get('deliveries')).body;
      await deliver('http://127.0.0.1:9/');
      const second = await listed(`deliveries?cursor=${encodeURIComponent(first.meta.next_cursor)}`);
      const ids = [...first.payload, ...second].map(({ id }) => id);
      expect(new Set(ids).size).to.equal(50);
    });

    it('refuses a cursor that is forged, of another list, or of another account', async () => {
      const { meta } = (await app.get(`webhooks/${webhook}/deliveries?${range}`)).body;
      const cursor = encodeURIComponent(meta.next_cursor);
      const { administrator, id } = await addAccount(app, 'Elsewhere');
      for (const path of [`webhooks/${other}/deliveries`, 'deliveries', `/api/v1/accounts/${id}/deliveries`]) {
        const headers = path.startsWith('/') ? administrator.headers : undefined;
        const { status, body } = await app.get(`${path}?cursor=${cursor}`, headers);
        expect(status, path).to.equal(400);
        expect(body.code).to.equal('bad_query');
      }
      for (const forged of ['x', 'v1.AAAA', `${meta.next_cursor.slice(0, -2)}AA`])
        expect((await app.get(`webhooks/${webhook}/deliveries?cursor=${encodeURIComponent(forged)}`)).status).to.equal(
          400,
        );
    });

    it('refuses filters that it does not have', async () => {
      for (const query of [
        'state=broken',
        'since=yesterday',
        'event=a%20b',
        'event=mesage_created',
        'conversation_id=0',
      ])
        expect((await app.get(`deliveries?${query}`)).status, query).to.equal(400);
    });
  });
});
