import type { HoldReason, OutboundSwitch } from '../../lib/outbound-gate.ts';
import type { Database } from '../../postgres/database.ts';
import { adoptHome, settleSending, type Decision, type SendingSettings } from '../../domain/platform/home.ts';

/** Decides of a process whether it sends, and notices when that changes. */
export class HomeWatch {
  readonly #database: Database;
  readonly #gate: OutboundSwitch;
  readonly #settings: SendingSettings;
  #changed: (decision: Decision) => void = () => undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isDecided = false;

  constructor(database: Database, gate: OutboundSwitch, settings: SendingSettings) {
    this.#database = database;
    this.#gate = gate;
    this.#settings = settings;
  }

  /** Calls `changed` with the first decision, and with each that differs from the one before. */
  onChange(changed: (decision: Decision) => void): void {
    this.#changed = changed;
  }

  /** Looks into the database, and holds or opens the gate; returns why it is held. */
  look(): Promise<HoldReason | null> {
    // Looks follow each other: an older answer must not replace a newer one.
    const looking = this.#last.then(() => this.#decide());
    this.#last = looking.catch(() => undefined);
    return looking;
  }

  /** Makes this place the installation's home, then looks. */
  async adopt(): Promise<HoldReason | null> {
    await adoptHome(this.#database.sql, this.#settings);
    return this.look();
  }

  async #decide(): Promise<HoldReason | null> {
    const decision = await settleSending(this.#database.sql, this.#settings);
    const isChange = this.#gate.set(decision.heldFor);
    if (isChange || !this.#isDecided) this.#changed(decision);
    this.#isDecided = true;
    return decision.heldFor;
  }
}
