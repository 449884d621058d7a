import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { migrate } from '../../src/postgres/migrate.ts';
import { adminToken } from '../support/app.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { rawRequest, sendRaw } from '../support/raw-http.ts';
import { killServices, ServiceProcess } from '../support/service.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

describe('what the service logs', function () {
  this.timeout(90_000);
  afterEach(killServices);

  it('at info: its start, a line for each request, and its end; JSON without secrets, paths or control sequences', async () => {
    const databaseUrl = await createDatabase(migrate);
    const service = await ServiceProcess.start({ databaseUrl, env: { LOG_LEVEL: 'debug', DEMO: 'true' } });
    const { headers } = await service.get('contacts/search?q=somebody-private');
    await service.get('/invitations/a-token-of-somebody');
    await service.get('/readyz');
    await service.get('/nowhere/at-all');
    await service.post('labels', { title: 'urgent' });
    await service.stop();
    const lines = service.output.split('\n').filter((line) => line.startsWith('{'));
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const { host, pathname } = new URL(databaseUrl);
    expect(logged.find(({ msg }) => msg === 'started')).to.include({
      level: 30,
      version,
      role: 'all',
      database: `${host}${pathname}`,
    });
    expect(logged.find(({ msg }) => msg === 'started')?.['plugins']).to.include('faq@1.0.0');
    const requests = logged.filter(({ msg }) => msg === 'request');
    const accounts = '/api/v1/accounts/:account_id';
    expect(requests.map(({ level, method, route, status }) => [level, method, route, status])).to.deep.equal([
      [30, 'GET', `${accounts}/contacts/search`, 200],
      [30, 'GET', '/invitations/:token', 404],
      [20, 'GET', '/readyz', 200],
      [30, 'GET', null, 404],
      [30, 'POST', `${accounts}/labels`, 201],
    ]);
    expect(requests[0]).to.include({ request_id: headers.get('x-request-id') });
    for (const { ms } of requests) expect(ms).to.be.a('number').and.above(0);
    expect(logged.map(({ msg }) => msg).slice(-2)).to.deep.equal(['stopping', 'stopped']);
    expect(logged.find(({ msg }) => msg === 'stopping')).to.include({ signal: 'SIGTERM', requests: 0, deliveries: 0 });
    const { password } = new URL(databaseUrl);
    for (const hidden of ['somebody', '\\u001b', '\u001b', adminToken, password]) {
      expect(lines.join('\n')).not.to.include(hidden);
    }
    await dropDatabase(databaseUrl);
  });

  it('no failure of its own when a body turns out not to be HTTP before it is read', async () => {
    const databaseUrl = await createDatabase(migrate);
    const service = await ServiceProcess.start({ databaseUrl, env: { LOG_LEVEL: 'info' } });
    const headers = ['content-type: application/json', 'transfer-encoding: chunked'];
    const request = rawRequest('POST /api/v1/accounts/1/labels HTTP/1.1', headers, 'zz\r\n');
    expect((await sendRaw(service.url, request)).status).to.equal(400);
    await service.stop();
    expect(service.output).to.include('"status":400').and.not.include('request failed');
    await dropDatabase(databaseUrl);
  });
});
