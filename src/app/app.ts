import type { AddressInfo } from 'node:net';
import type { Engine } from '../engine/engine.ts';
import type { BrokenPackage } from '../packages/registry.ts';
import type { HoldReason } from '../lib/outbound-gate.ts';
import type { InstalledPlugins } from '../runs/installed-plugins.ts';
import type { Database } from '../postgres/database.ts';
import { compose, type Parts } from './compose.ts';
import { listenOn } from './start/listen.ts';
import { createMechanisms, type AppOptions } from './parts/mechanisms.ts';
import type { Seeded } from './start/seed.ts';
import { start } from './start/start.ts';
import { stop } from './stop.ts';

/** The whole service, as the process that starts and stops it sees it. */
export class App {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Reads the packages in folders and composes the parts. Nothing runs yet. */
  static async create(options: AppOptions): Promise<App> {
    return new App(compose(await createMechanisms(options)));
  }

  /** The pool for requests. Deliveries, bots and sweeps have a pool of their own, so requests cannot starve them. */
  get database(): Database {
    return this.#parts.databases.requests;
  }

  get plugins(): InstalledPlugins {
    return this.#parts.plugins;
  }

  /** The packages in folders that the start left out. */
  get leftOut(): readonly BrokenPackage[] {
    return this.#parts.phase.leftOut;
  }

  get engine(): Engine {
    return this.#parts.engine;
  }

  /** Why nothing is sent; null while everything is. */
  get heldFor(): HoldReason | null {
    return this.#parts.gate.heldFor;
  }

  /** Listens for requests; returns the bound address. Throws OperatorError when the address cannot be bound. */
  listen(): Promise<AddressInfo> {
    const { port, host } = this.#parts.config;
    return listenOn(this.#parts.http.server, { port, host });
  }

  /** Runs the start sequence (see start.ts); returns what the first start created. Throws OperatorError. */
  start(): Promise<Seeded | null> {
    return start(this.#parts);
  }

  /** Builds the pages for browsers, unless that was done for these sources before. */
  preparePages(): Promise<void> {
    return this.#parts.site.prepare();
  }

  /** Starts a process for bots, so that the first message need not wait for it; others start on demand. */
  warmSandbox(): void {
    this.#parts.sandbox.warm();
  }

  /** Work in progress: connections with an unanswered request, and deliveries whose result is not written yet. */
  underWay(): { requests: number; deliveries: number } {
    return { requests: this.#parts.http.connections.busy, deliveries: this.engine.inFlight };
  }

  /** Runs the shutdown sequence (see stop.ts). */
  stop(): Promise<void> {
    return stop(this.#parts);
  }
}
