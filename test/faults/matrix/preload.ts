// Loaded into a service process before the service (NODE_OPTIONS=--import=…), which knows nothing of it. It stands for what
// nobody can do to a machine without being its administrator: a jump of the clock, as far as a process sees it, and other
// name servers. FAULT_CLOCK_FILE holds how many milliseconds the clock is off, and may be written at any time; the clock of
// timers (CLOCK_MONOTONIC) does not jump, as it does not on a real machine.
import { readFileSync } from 'node:fs';
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';

const clockFile = process.env['FAULT_CLOCK_FILE'];
const nameServer = process.env['FAULT_NAME_SERVER'];
const lookMs = 10;

if (clockFile) {
  const RealDate = Date;
  let offMs = 0;
  const look = (): void => {
    try {
      offMs = Number(readFileSync(clockFile, 'utf8')) || 0;
    } catch {
      offMs = 0;
    }
  };
  look();
  setInterval(look, lookMs).unref();
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given: unknown[], newTarget) =>
      Reflect.construct(target, given.length === 0 ? [RealDate.now() + offMs] : given, newTarget) as object,
    apply: () => new RealDate(RealDate.now() + offMs).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? () => RealDate.now() + offMs : (Reflect.get(target, name, receiver) as unknown),
  });
}

if (nameServer) {
  const servers = [nameServer];
  dns.Resolver = class extends dns.Resolver {
    constructor(...given: ConstructorParameters<typeof dns.Resolver>) {
      super(...given);
      this.setServers(servers);
    }
  };
  syncBuiltinESMExports();
}
