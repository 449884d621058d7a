import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createHostResolver } from '../../src/outbound/host-resolver.ts';
import type { HostResolver } from '../../src/outbound/host-resolver.ts';
import { startNameServer } from './name-server.ts';
import type { NameServer } from './name-server.ts';

describe('host resolver', () => {
  let server: NameServer;
  let resolver: HostResolver;
  let folder: string;

  before(async () => {
    server = await startNameServer({
      'both.test': { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['20010db8000000000000000000000001'] },
      'four.test': { a: ['192.0.2.4'] },
      'brief.test': { a: ['192.0.2.5'], ttl: 0 },
      'empty.test': {},
      'broken.test': 'SERVFAIL',
      'hanging.test': 'hang',
    });
    folder = await mkdtemp(join(tmpdir(), 'hosts-'));
    await writeFile(
      join(folder, 'hosts'),
      '# names\n192.0.2.9 Fixed.test other.test # why\n2001:db8::9\tfixed.test\n\n',
    );
    resolver = createHostResolver({ servers: [server.address], hostsFile: join(folder, 'hosts') });
  });

  after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  it('gives every A and AAAA record', async () => {
    expect(await resolver.resolve('both.test')).to.deep.equal({ addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] });
    expect(await resolver.resolve('four.test')).to.deep.equal({ addresses: ['192.0.2.4'] });
  });

  it('honours the file of fixed names, without asking DNS', async () => {
    const before = server.queries();
    expect(await resolver.resolve('FIXED.test.')).to.deep.equal({ addresses: ['192.0.2.9', '2001:db8::9'] });
    expect(await resolver.resolve('other.test')).to.deep.equal({ addresses: ['192.0.2.9'] });
    expect(server.queries()).to.equal(before);
  });

  it('knows localhost by itself', async () => {
    for (const name of ['localhost', 'LOCALHOST.', 'a.localhost']) {
      expect(await resolver.resolve(name)).to.deep.equal({ addresses: ['127.0.0.1'] });
    }
  });

  it('names the problem', async () => {
    expect(await resolver.resolve('missing.test')).to.deep.equal({ problem: 'ENOTFOUND' });
    expect(await resolver.resolve('empty.test')).to.deep.equal({ problem: 'ENODATA' });
    expect(await resolver.resolve('broken.test')).to.deep.equal({ problem: 'ESERVFAIL' });
    expect(await resolver.resolve(`${'x'.repeat(300)}.test`)).to.have.property('problem');
    expect(await resolver.resolve('')).to.have.property('problem');
  });

  it('gives up on a silent server, and a hanging name holds up no other', async () => {
    let isOver = false;
    const hanging = Promise.all(Array.from({ length: 10 }, () => resolver.resolve('hanging.test'))).finally(
      () => (isOver = true),
    );
    await Promise.all(Array.from({ length: 10 }, (_, index) => resolver.resolve(`name-${index}.test`)));
    expect(isOver).to.equal(false);
    for (const answer of await hanging) expect(answer).to.deep.equal({ problem: 'ETIMEOUT' });
  });

  it('keeps answers and failures, asks once for simultaneous callers, and asks again when the TTL is over', async () => {
    const fresh = createHostResolver({ servers: [server.address], hostsFile: '/nonexistent' });
    const before = server.queries();
    await Promise.all(Array.from({ length: 20 }, () => fresh.resolve('four.test')));
    await fresh.resolve('four.test');
    await fresh.resolve('missing.test');
    await fresh.resolve('missing.test');
    expect(server.queries() - before).to.equal(4);

    const shortLived = createHostResolver({ servers: [server.address], hostsFile: '/nonexistent', maxTtlMs: 0 });
    await shortLived.resolve('four.test');
    await shortLived.resolve('four.test');
    expect(server.queries() - before).to.equal(8);
  });
});
