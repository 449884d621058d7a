import type { AddressInfo } from 'node:net';
import type { Engine } from '../deliveries/engine.ts';
import type { Registry } from '../packages/registry.ts';
import type { Database } from '../postgres/database.ts';
import { compose, type Parts } from './compose.ts';
import { listenOn } from './listen.ts';
import { createMechanisms, type AppOptions } from './mechanisms.ts';
import type { Seeded } from './seed.ts';
import { start } from './start.ts';
import { stop } from './stop.ts';

/** The service as a whole, to whoever starts and ends it. */
export class App {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Reads the installed plugins and puts the parts together; nothing runs yet. */
  static async create(options: AppOptions): Promise<App> {
    return new App(compose(await createMechanisms(options)));
  }

  /** For requests. Deliveries, bots and sweeps have connections of their own, which no request can take. */
  get database(): Database {
    return this.#parts.databases.requests;
  }

  get registry(): Registry {
    return this.#parts.registry;
  }

  get engine(): Engine {
    return this.#parts.engine;
  }

  /** Takes requests; answers the address. Throws OperatorError when it cannot be had. */
  listen(): Promise<AddressInfo> {
    const { port, host } = this.#parts.config;
    return listenOn(this.#parts.http.server, { port, host });
  }

  /** Starts as `start` says; what the first start made is answered. Throws OperatorError. */
  start(): Promise<Seeded | null> {
    return start(this.#parts);
  }

  /** What is under way: requests that are not answered, deliveries and bot runs that are not written. */
  underWay(): { requests: number; deliveries: number } {
    return { requests: this.#parts.http.connections.busy, deliveries: this.engine.inFlight };
  }

  /** Ends in order, as `stop` says. */
  stop(): Promise<void> {
    return stop(this.#parts);
  }
}
