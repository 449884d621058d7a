import { expect } from 'chai';
import { adminToken, TestApp } from '../support/app.ts';
import { addPerson } from '../support/people.ts';
import { Maker } from '../support/maker.ts';

const perMinute = 100;

describe('rate limits', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { rateLimitPerMinute: perMinute, trustedProxies: 1 } });
  });

  after(() => app.stop());

  const guess = (address: string) =>
    app.get('/api/v1/profile', { api_access_token: 'no token of anybody', 'x-forwarded-for': address });

  it('60 failed authentications a minute and address, then 429', async () => {
    for (let count = 0; count < 60; count++) expect((await guess('203.0.113.7')).status).to.equal(401);
    const refused = await guess('203.0.113.7');
    expect(refused.status).to.equal(429);
    expect(refused.body.code).to.equal('rate_limited');
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
  });

  it('then not even with the right token where its owner chose it; one of the service is let in', async () => {
    const made = await addPerson(app, { name: 'Made' });
    const from = (headers: Record<string, string>, address: string) =>
      app.get('/api/v1/profile', { ...headers, 'x-forwarded-for': address });
    expect((await from({}, '203.0.113.7')).status).to.equal(429);
    expect((await from({}, '203.0.113.10')).status).to.equal(200);
    expect((await from(made.headers, '203.0.113.7')).status).to.equal(200);
  });

  it('other addresses are not meant', async () => {
    expect((await guess('203.0.113.8')).status).to.equal(401);
    // Only the last place of the header was written by the proxy.
    expect((await guess('203.0.113.99, 203.0.113.7')).status).to.equal(429);
  });

  it('an IPv6 network of 64 bits counts as one address, whatever notation it comes in', async () => {
    for (let count = 0; count < 60; count++)
      expect((await guess(`2001:db8:0:7::${count.toString(16)}`)).status).to.equal(401);
    for (const address of ['2001:db8:0:7:ffff::1', '2001:0DB8:0000:0007:1:2:3:4'])
      expect((await guess(address)).status, address).to.equal(429);
    expect((await guess('2001:db8:0:8::1')).status).to.equal(401);
    expect((await guess('::ffff:203.0.113.7')).status).to.equal(429);
    expect((await guess('::ffff:203.0.113.70')).status).to.equal(401);
  });

  it('who guessed 60 contact tokens cannot try a right one: 429, from that address alone', async () => {
    const maker = new Maker(app, 1, {
      mark: 'Limits',
      administrator: { id: 1, headers: { api_access_token: adminToken } },
    });
    const id = await maker.inbox({ channel_type: 'Channel::WebWidget' });
    const { identifier } = await maker.call('GET', `inboxes/${id}`);
    const { headers } = await maker.visitor(id);
    const from = (address: string, token: Record<string, string>) =>
      app.get(`/public/api/v1/inboxes/${identifier}/messages`, { ...token, 'x-forwarded-for': address });
    for (let count = 0; count < 60; count++)
      expect((await from('198.51.100.7', { 'x-contact-token': `wrong ${count}` })).status).to.equal(401);
    expect((await from('198.51.100.7', headers)).status).to.equal(429);
    expect((await from('198.51.100.8', headers)).status).to.equal(200);
  });

  it('a token has so many requests a minute, and is told what is left', async () => {
    const first = await app.get('labels');
    const left = Number(/r=(\d+)/.exec(first.headers.get('ratelimit') ?? '')?.[1]);
    expect(left).to.be.within(1, perMinute - 1);
    for (let count = 0; count < left; count++) expect((await app.get('labels')).status).to.equal(200);
    const refused = await app.get('labels');
    expect(refused.status).to.equal(429);
    expect(refused.headers.get('ratelimit')).to.match(/r=0/);
    expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
  });
});
