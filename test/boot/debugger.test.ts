import { expect } from 'chai';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eventually } from '../faults/helpers.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Long enough for a debugger to open its port, which takes about 20 ms.
const openingMs = 500;
const listening = '0A';

/** The TCP ports a process listens on. */
function portsOf(pid: number): number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      } catch {
        return undefined;
      }
    }),
  );
  return ['tcp', 'tcp6'].flatMap((protocol) =>
    readFileSync(`/proc/${pid}/net/${protocol}`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === listening && sockets.has(inode))
      .map(([, local = '']) => Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16)),
  );
}

/** The process and all that descend from it. */
function familyOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return [Number(name), Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1])];
      } catch {
        return [0, 0];
      }
    });
  const family = [pid];
  for (const member of family) {
    family.push(...parents.filter(([, parent]) => parent === member).map(([child = 0]) => child));
  }
  return family;
}

/** Whether the process is there and a Node. */
function isNode(pid: number): boolean {
  try {
    return /^node|MainThread/.test(readFileSync(`/proc/${pid}/comm`, 'utf8'));
  } catch {
    return false;
  }
}

describe('SIGUSR1, which makes Node open a debugger', function () {
  this.timeout(60_000);
  let databaseUrl: string;

  before(async () => {
    databaseUrl = await createDatabase(migrate);
  });
  afterEach(killServices);
  after(() => dropDatabase(databaseUrl));

  for (const [title, env] of [
    ['takes the place of the command', {}],
    // So it is where this Node is older than the service needs.
    ['is a child of the command', { NODE_OPTIONS: '--import data:text/javascript,delete%20process.execve' }],
  ] as const) {
    it(`opens none in the service and its children, which live on, where it ${title}`, async () => {
      const service = await ServiceProcess.start({ databaseUrl, env });
      // The service, the sandbox process that it keeps warm, and where it is a child the command; pages are built before.
      const members = 'NODE_OPTIONS' in env ? 3 : 2;
      const nodes = (): number[] => familyOf(service.pid).filter(isNode);
      // The start has children of its own that end soon: those are meant that stay.
      await eventually(async () => {
        const before = nodes();
        await sleep(openingMs);
        return before.length === members && nodes().join() === before.join();
      });
      const family = nodes();
      const ports = family.map(portsOf);
      expect(ports.flat()).to.deep.equal([Number(new URL(service.url).port)]);
      for (const pid of family) process.kill(pid, 'SIGUSR1');
      await sleep(openingMs);
      expect(family.map(portsOf)).to.deep.equal(ports);
      expect(service.output).not.to.contain('Debugger');
      expect((await service.get('/healthz')).status).to.equal(200);
      expect((await service.stop()).code).to.equal(0);
    });
  }

  it('is switched off wherever Node is started', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> };
    // The command switches it off itself; the generator of types is no service.
    const starts = Object.entries(scripts).filter(([, script]) =>
      /(^|\s)node (?!bin\/switchboard\.js|scripts\/schemas\.ts)/.test(script),
    );
    expect(starts.map(([name]) => name)).to.include.members(['dev', 'bench', 'fuzz']);
    for (const [name, script] of starts) expect(script, name).to.contain('--disable-sigusr1');
    expect(readFileSync(`${root}Dockerfile`, 'utf8')).to.match(/^ENTRYPOINT \["node", .*"--disable-sigusr1"/m);
    const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const starters = sources.filter((name) => readFileSync(`${root}src/${name}`, 'utf8').includes('process.execPath'));
    expect(starters).to.include('sandbox/child-process.ts');
    for (const name of starters) {
      expect(readFileSync(`${root}src/${name}`, 'utf8'), name).to.contain('--disable-sigusr1');
    }
  });
});
