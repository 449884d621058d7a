import { expect } from 'chai';
import { pino } from 'pino';
import { App } from '../../src/app/app.ts';
import { loadConfig } from '../../src/config.ts';
import { OperatorError } from '../../src/lib/operator-error.ts';
import { TestApp } from '../support/app.ts';

describe('a start with another SECRET_KEY', () => {
  for (const [what, prepare] of Object.entries({
    'the database holds secrets': async () => undefined,
    'release 0.1.0 sealed the secrets, which left no word to try': (app: TestApp) =>
      app.query('DELETE FROM installation'),
  }))
    it(`is refused while ${what}, and says why`, async () => {
      const first = await TestApp.start({ engine: false });
      await first.post('webhooks', { url: 'http://127.0.0.1:9/', subscriptions: ['message_created'] });
      await prepare(first);
      const config = loadConfig({
        DATABASE_URL: first.databaseUrl,
        SECRET_KEY: 'quite another key than the first one was',
        PORT: '0',
      });
      const second = await App.create({ config, databaseUrl: first.databaseUrl, log: pino({ level: 'silent' }) });
      const refusal = await second.start().catch((error: unknown) => error);
      expect(refusal).to.be.instanceOf(OperatorError);
      expect((refusal as Error).message).to.match(/SECRET_KEY/);
      await second.stop();
      await first.stop();
    });
});
