import { setTimeout as sleep } from 'node:timers/promises';
import type { StopMode } from './process.ts';
import { launchServer, type Server, type ServerOptions } from './server.ts';

const relaunchDelayMs = 1000;

/** Keeps a server running on its port: starts it again after an unexpected end. */
export class Supervisor {
  /** The current server process, a new one after each restart. */
  server: Server;
  readonly #options: ServerOptions;
  #watched: Promise<void> = Promise.resolve();
  #endIsIntended = false;
  #isStopped = false;

  constructor(server: Server, options: ServerOptions) {
    this.server = server;
    this.#options = options;
    this.#watch();
  }

  /** Ends the server for good. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end(this.#options.ephemeral ? 'immediate' : 'fast');
  }

  /** Ends the server and starts it again `downtimeMs` later. Throws if it does not start. */
  async restart(mode: StopMode, downtimeMs: number): Promise<void> {
    await this.#end(mode);
    await sleep(downtimeMs);
    this.#endIsIntended = false;
    await this.#launch();
  }

  async #end(mode: StopMode): Promise<void> {
    this.#endIsIntended = true;
    await this.server.stop(mode);
    // A relaunch after an unexpected end may have been under way: its server has to be ended too.
    await this.#watched;
    await this.server.stop(mode);
  }

  async #launch(): Promise<void> {
    if (this.#isStopped) return;
    this.server = await launchServer(this.#options, this.server.port);
    this.#watch();
  }

  #watch(): void {
    this.#watched = this.#relaunchAfterEnd();
  }

  async #relaunchAfterEnd(): Promise<void> {
    const { log } = this.#options;
    await this.server.ended;
    if (this.#endIsIntended) return;
    log.warn('the embedded PostgreSQL ended by itself and is started again');
    await sleep(relaunchDelayMs);
    try {
      await this.#launch();
    } catch (error) {
      log.error(error, 'the embedded PostgreSQL cannot be started again');
    }
  }
}
