import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceProcess, type Ending } from '../../support/service.ts';
import type { Disturbance } from './evidence.ts';
import { moved, until } from './patience.ts';

const preload = fileURLToPath(new URL('preload.ts', import.meta.url));

type Role = 'web' | 'engine';

/** The processes of one service: one that answers requests, and any number of engines. */
export class Services {
  readonly engines: ServiceProcess[] = [];
  readonly disturbances: Disturbance[] = [];
  web: ServiceProcess | null = null;
  /** All processes that ended without having been told to. */
  readonly deaths: string[] = [];
  readonly #databaseUrl: string;
  readonly #env: Record<string, string>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'switchboard-faults-'));
  readonly #expected = new Set<ServiceProcess>();

  constructor(databaseUrl: string, env: Record<string, string>) {
    this.#databaseUrl = databaseUrl;
    this.#env = env;
  }

  /** The path of a file that is removed with everything else. */
  file(name: string): string {
    return join(this.#folder, name);
  }

  /** Moves the clock of the processes that were started with it; see preload.ts. */
  moveClock(name: string, seconds: number): void {
    writeFileSync(this.file(`clock-${name}`), String(seconds * 1000));
  }

  async startWeb({ databaseUrl, env = {} }: Start = {}): Promise<ServiceProcess> {
    return (this.web = await this.#start('web', databaseUrl ?? this.#databaseUrl, env));
  }

  async startEngine({ databaseUrl, env = {} }: Start = {}): Promise<ServiceProcess> {
    const engine = await this.#start('engine', databaseUrl ?? this.#databaseUrl, env);
    this.engines.push(engine);
    return engine;
  }

  /** The settings by which a process takes the clock of the file, or asks the name server. */
  steered(steering: { clock?: string; nameServer?: string }): Record<string, string> {
    return {
      NODE_OPTIONS: `--import=${preload}`,
      ...(steering.clock ? { FAULT_CLOCK_FILE: this.file(`clock-${steering.clock}`) } : {}),
      ...(steering.nameServer ? { FAULT_NAME_SERVER: steering.nameServer } : {}),
    };
  }

  /** The address for requests, as soon as there is one. */
  async url(): Promise<string> {
    await until('a process that answers requests', () => this.web?.isRunning ?? false);
    return this.web?.url ?? '';
  }

  /** Kills the process with SIGKILL, and logs that as a disturbance. */
  async kill(process: ServiceProcess): Promise<Ending> {
    this.#expected.add(process);
    return this.disturb(`kill -9 of ${process.pid}`, async () => {
      const ending = await process.kill();
      this.#forget(process);
      return ending;
    });
  }

  /** Tells the process to stop; that is no disturbance. */
  async stop(process: ServiceProcess): Promise<Ending> {
    this.#expected.add(process);
    const ending = await process.stop();
    this.#forget(process);
    return ending;
  }

  /** Does something to the service, and logs when. */
  async disturb<Result>(what: string, work: () => Promise<Result> | Result): Promise<Result> {
    const disturbance: Disturbance = { what, from: performance.now(), until: Number.POSITIVE_INFINITY };
    this.disturbances.push(disturbance);
    try {
      return await work();
    } finally {
      disturbance.until = performance.now();
    }
  }

  /** Lets a process that was stopped by a signal go on. */
  wake({ pid, isRunning }: ServiceProcess): void {
    if (isRunning) process.kill(pid, 'SIGCONT');
  }

  /** Stops everything in order; resolves with how the processes ended, where that was not as it should be. */
  async end(): Promise<string[]> {
    const left = [...this.engines, ...(this.web ? [this.web] : [])];
    const endings = await Promise.all(
      left.map(async (ended) => {
        // A fault that could not be done may have left it stopped, and then it would hear no other signal.
        this.wake(ended);
        const { code, signal } = await this.stop(ended);
        return code === 0 ? [] : [`a process ended with ${signal ?? code}: ${ended.output.slice(-500)}`];
      }),
    );
    rmSync(this.#folder, { recursive: true, force: true });
    return [...this.deaths, ...endings.flat()];
  }

  async #start(role: Role, databaseUrl: string, env: Record<string, string>): Promise<ServiceProcess> {
    // Plugins play no part here, and reading them is most of a start.
    const own = { ROLE: role, SANDBOX_RUNNERS: '1', PLUGIN_DIRS: this.#folder };
    const process = await ServiceProcess.start({ databaseUrl, env: { ...own, ...this.#env, ...env } });
    moved();
    void this.#watch(process, role);
    return process;
  }

  async #watch(process: ServiceProcess, role: Role): Promise<void> {
    const { code, signal } = await process.ended;
    moved();
    if (!this.#expected.has(process)) this.deaths.push(`a process of the role ${role} died: ${signal ?? code}`);
    this.#forget(process);
  }

  #forget(process: ServiceProcess): void {
    if (this.web === process) this.web = null;
    const index = this.engines.indexOf(process);
    if (index >= 0) this.engines.splice(index, 1);
  }
}

interface Start {
  databaseUrl?: string;
  env?: Record<string, string>;
}

/** Resident memory of a process in megabytes; null where the system does not tell. */
export async function residentMb({ pid }: ServiceProcess): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) / 1024;
}
