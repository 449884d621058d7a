import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { selfSigned } from '../../outbound/certificate.ts';
import { Sending, type Body } from '../../support/sending.ts';

const mask = '••••';
const client = selfSigned('billing-client');
const stranger = selfSigned('stranger-client');
const expired = selfSigned('old-client', 2021);

describe('headers and auth of webhooks', () => {
  const sending = Sending.use();
  const hook = (more: object): Promise<Body> =>
    sending.made('webhooks', { url: sending.receiver.url, subscriptions: ['message_created'], ...more });
  const send = async (content: string): Promise<void> => {
    const before = sending.receiver.received.length;
    await sending.say(await sending.conversation(), content);
    await sending.app.eventually(async () => sending.receiver.received.length > before);
  };
  const lastHeaders = () => sending.receiver.received.at(-1)!.headers;

  it('are sent, and never shown again: not in the record, its list, the log or the database', async () => {
    const headers = [
      { name: 'X-Tenant', value: 'tenant-in-a-header' },
      { name: 'X-Route', value: 'route-in-a-header' },
    ];
    const auth = { type: 'basic', username: 'ada', password: 'pässwörd-of-ada' };
    const created = await hook({ headers, auth });
    const { id } = created;
    await send('hello');
    const basic = `Basic ${Buffer.from('ada:pässwörd-of-ada').toString('base64')}`;
    expect(lastHeaders()).to.include({
      'x-tenant': 'tenant-in-a-header',
      'x-route': 'route-in-a-header',
      authorization: basic,
      'content-type': 'application/json',
    });
    const [delivery] = await sending.eventuallyIn({ id }, 'delivered');
    const shown = [
      created,
      (await sending.app.get(`webhooks/${id}`)).body,
      (await sending.app.get('webhooks')).body,
      (await sending.app.patch(`webhooks/${id}`, { name: 'CRM' })).body,
      (await sending.app.get(`deliveries/${delivery.id}`)).body,
      await sending.app.query('SELECT * FROM webhooks'),
      await sending.app.query('SELECT * FROM attempts'),
    ];
    for (const secret of ['tenant-in-a-header', 'route-in-a-header', 'pässwörd-of-ada', basic])
      expect(JSON.stringify(shown)).not.to.include(secret);
    const masked = headers.map(({ name }) => ({ name, value: mask }));
    expect(shown[1]).to.deep.include({ headers: masked, auth_type: 'basic' });
    expect(shown[1]).not.to.have.property('auth');
    const [attempt] = shown[4].attempts;
    expect(attempt.request.headers).to.include({ 'x-tenant': mask, 'x-route': mask, authorization: mask });
    expect(attempt.request.headers['webhook-signature']).to.match(/^v1,/);
  });

  it('are kept by a PATCH under their names where they are masked, replaced where not, and removed', async () => {
    const { id } = await hook({
      headers: [
        { name: 'X-Kept', value: 'kept' },
        { name: 'X-New', value: 'old' },
        { name: 'X-Gone', value: 'gone' },
      ],
      auth: { type: 'bearer', token: 'token-of-ada' },
    });
    const headers = [
      { name: 'x-new', value: 'new' },
      { name: 'x-kept', value: mask },
    ];
    const changed = await sending.app.patch(`webhooks/${id}`, { headers });
    expect(changed.body.headers.map(({ name }: Body) => name)).to.deep.equal(['x-new', 'x-kept']);
    await send('hello');
    expect(lastHeaders()).to.include({ 'x-kept': 'kept', 'x-new': 'new', authorization: 'Bearer token-of-ada' });
    expect(lastHeaders()).not.to.have.property('x-gone');
    const unknown = await sending.app.patch(`webhooks/${id}`, { headers: [{ name: 'X-Gone', value: mask }] });
    expect([unknown.status, unknown.body.details[0].path]).to.deep.equal([422, '/headers/0/value']);
    const removed = await sending.app.patch(`webhooks/${id}`, { headers: [], auth: null });
    expect(removed.body).to.deep.include({ headers: [], auth_type: null });
    await send('hello again');
    expect(lastHeaders()).not.to.have.any.keys('x-kept', 'x-new', 'authorization');
  });

  const header = (name: string, value = 'x') => ({ headers: [{ name, value }] });
  const mtls = (more: object = {}) => ({
    url: 'https://localhost/',
    auth: { type: 'mtls', certificate: client.cert, key: client.key, ...more },
  });
  const refused: [title: string, body: object, path: string][] = [
    ...['Connection', 'keep-alive', 'TE', 'Upgrade', 'Host', 'Webhook-Id', 'webhook-anything', 'Content-Type'].map(
      (name): [string, object, string] => [`the header ${name}`, header(name), '/headers/0/name'],
    ),
    ['a header without a name', header(''), '/headers/0/name'],
    ['a header with a space', header('X Tenant'), '/headers/0/name'],
    ['a value with a line break', header('X-Tenant', 'a\r\nX-Other: b'), '/headers/0/value'],
    ['a masked value of a new header', header('X-Tenant', mask), '/headers/0/value'],
    [
      'a header that stands there twice',
      {
        headers: [
          { name: 'X-A', value: '1' },
          { name: 'x-a', value: '2' },
        ],
      },
      '/headers/1/name',
    ],
    ['two authorizations', { ...header('Authorization'), auth: { type: 'bearer', token: 'x' } }, '/headers/0/name'],
    ['an unknown way', { auth: { type: 'digest' } }, '/auth/type'],
    ['a bearer without a token', { auth: { type: 'bearer' } }, '/auth/token'],
    ['a token with a line break', { auth: { type: 'bearer', token: 'a\nb' } }, '/auth/token'],
    ['a user name with a colon', { auth: { type: 'basic', username: 'a:b', password: 'x' } }, '/auth/username'],
    ['a foreign field', { auth: { type: 'bearer', token: 'x', password: 'y' } }, '/auth/password'],
    ['a certificate that is none', mtls({ certificate: 'nothing' }), '/auth/certificate'],
    ['a key that is none', mtls({ key: 'nothing' }), '/auth/key'],
    ['the key of another certificate', mtls({ key: stranger.key }), '/auth/key'],
    ['an expired certificate', mtls({ certificate: expired.cert, key: expired.key }), '/auth/certificate'],
    ['a certificate for an address without TLS', { auth: mtls().auth }, '/auth/type'],
  ];
  for (const [title, body, path] of refused) {
    it(`refuse ${title}`, async () => {
      const whole = { url: sending.receiver.url, subscriptions: ['message_created'], ...body };
      const created = await sending.app.post('webhooks', whole);
      expect([created.status, created.body.details?.[0].path], JSON.stringify(created.body)).to.deep.equal([422, path]);
      expect(JSON.stringify(created.body)).not.to.include('PRIVATE KEY');
      const { id } = await hook({});
      const changed = await sending.app.patch(`webhooks/${id}`, body);
      expect([changed.status, changed.body.details?.[0].path]).to.deep.equal([422, path]);
    });
  }

  describe('with a client certificate', () => {
    const own = selfSigned('localhost');
    const trusted = getCACertificates('default');
    const connections: { client: string | null; port: number; resumed: boolean }[] = [];
    let server: Server;
    let url: string;

    before(async () => {
      setDefaultCACertificates([...trusted, own.cert]);
      const answer = (request: IncomingMessage, response: ServerResponse): void => {
        const socket = request.socket as TLSSocket;
        const subject = socket.getPeerCertificate().subject as { CN?: string } | undefined;
        connections.push({
          client: subject?.CN ?? null,
          port: socket.remotePort ?? 0,
          resumed: socket.isSessionReused(),
        });
        request.resume().on('end', () => response.end());
      };
      const asks = { requestCert: true, rejectUnauthorized: true, ca: [client.cert, stranger.cert] };
      server = createServer({ ...own, ...asks }, answer);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    });
    beforeEach(() => void connections.splice(0));

    after(() => {
      setDefaultCACertificates(trusted);
      server.closeAllConnections();
      server.close();
    });

    const auth = ({ cert, key }: typeof client) => ({ type: 'mtls', certificate: cert, key });

    it('are known to a receiver that demands one, each webhook by its own on a connection of its own', async () => {
      const hooks = [
        await hook({ url, auth: auth(client) }),
        await hook({ url, auth: auth(stranger) }),
        await hook({ url, auth: auth(client) }),
      ];
      expect(JSON.stringify(hooks)).not.to.include('PRIVATE KEY');
      for (let round = 1; round <= 3; round += 1) {
        await sending.say(await sending.conversation(), `round ${round}`);
        for (const one of hooks) await sending.eventuallyIn(one, 'delivered', round);
      }
      const names = connections.map(({ client: name }) => name);
      expect(names).to.have.members([...Array(6).fill('billing-client'), ...Array(3).fill('stranger-client')]);
      // No connection has served two identities; two webhooks with one certificate share none either.
      const ports = Map.groupBy(connections, ({ port }) => port);
      for (const used of ports.values()) expect(new Set(used.map(({ client: name }) => name)).size).to.equal(1);
      expect(ports.size).to.be.at.least(3);
    });

    it('are not known without one, nor any more when it is taken away', async () => {
      const one = await hook({ url, auth: auth(client) });
      await sending.say(await sending.conversation(), 'known');
      await sending.eventuallyIn(one, 'delivered');
      await sending.app.patch(`webhooks/${one.id}`, { auth: null });
      await sending.say(await sending.conversation(), 'unknown');
      const [failing] = await sending.eventuallyIn(one, 'failing');
      expect(failing.last_error).to.be.oneOf(['tls', 'reset']);
      expect(connections.length).to.equal(1);
    });
  });
});
