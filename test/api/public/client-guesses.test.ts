import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { Widget } from '../../support/widget.ts';

describe('who guesses a source id', () => {
  it('is stopped like who guesses a token, and a client writes no more than 60 times a minute', async () => {
    const app = await TestApp.start({
      engine: false,
      config: { rateLimitPerMinute: 3000, widgetSessionsPerMinute: 5 },
    });
    try {
      const inbox = await Widget.create(app, { channel_type: 'Channel::Api' });
      const { body } = await inbox.call('POST', 'contacts', {});
      const { body: begun } = await inbox.call('POST', `contacts/${body.source_id}/conversations`, {});
      const typing = `contacts/${body.source_id}/conversations/${begun.id}/toggle_typing`;
      const written = new Map<number, number>();
      for (let call = 0; call < 62; call++) {
        const { status } = await inbox.call('POST', typing, { typing_status: 'on' });
        written.set(status, (written.get(status) ?? 0) + 1);
      }
      expect(written.get(429)).to.be.above(0);
      expect(written.get(200)).to.be.at.least(59);
      const guessed = new Set<number>();
      for (let guess = 0; guess < 62; guess++) guessed.add((await inbox.call('GET', `contacts/guess-${guess}`)).status);
      expect([...guessed]).to.deep.equal([404, 429]);
      // Those who are known are not let in either, from that address.
      expect((await inbox.call('GET', `contacts/${body.source_id}`)).status).to.equal(429);
      const entered = [];
      for (let entry = 0; entry < 6; entry++) entered.push((await inbox.call('POST', 'contacts', {})).status);
      expect(entered).to.include(429);
    } finally {
      await app.stop();
    }
  });

  it('by choosing one is stopped as well, at that inbox and from that address, and who comes back is no guess', async () => {
    const app = await TestApp.start({
      engine: false,
      config: { widgetSessionsPerMinute: 0, clientGuessesPerMinute: 4, trustedProxies: 1 },
    });
    try {
      const [inbox, other] = [
        await Widget.create(app, { channel_type: 'Channel::Api' }),
        await Widget.create(app, { channel_type: 'Channel::Api' }),
      ];
      await app.post('contacts', { name: 'Ann', inbox_id: inbox.id, source_id: '+14155552671' });
      const claim = async (sourceId: string, address = '192.0.2.1', at = inbox): Promise<number> =>
        (await at.call('POST', 'contacts', { source_id: sourceId }, { 'x-forwarded-for': address })).status;
      const claimAll = (...ids: string[]) => Promise.all(ids.map((id) => claim(id)));
      expect(await claim('my own')).to.equal(201);
      expect(await claimAll('my own', 'my own', 'my own')).to.deep.equal([201, 201, 201]);
      expect(await claim('+14155552671')).to.equal(422);
      const tried = await claimAll('guess 1', 'guess 2', 'guess 3', 'guess 4', 'guess 5');
      expect(tried.toSorted((left, right) => left - right)).to.deep.equal([201, 201, 429, 429, 429]);
      await app.events();
      // Nothing tells any more whether somebody is known by it.
      expect(await claimAll('my own', '+14155552671', 'guess 6')).to.deep.equal([429, 429, 429]);
      expect(await app.eventNames()).to.deep.equal([]);
      expect(await claim('my own', '192.0.2.2')).to.equal(201);
      expect(await claim('guess 1', '192.0.2.1', other)).to.equal(201);
      expect((await inbox.call('POST', 'contacts', {}, { 'x-forwarded-for': '192.0.2.1' })).status).to.equal(201);
    } finally {
      await app.stop();
    }
  });
});
