import type { Database } from './database.ts';
import { appliedMigrations, unknownAmong } from './migrations/index.ts';

/**
 * Notices that a newer release has migrated the database of this process, which cannot write to it any more.
 */
export class UpgradeWatch {
  readonly #database: Database;
  #isUpgraded = false;
  #noticed: (migrations: readonly string[]) => void = () => undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** True once an upgrade was noticed; the process stays outdated until it ends. */
  get isUpgraded(): boolean {
    return this.#isUpgraded;
  }

  /** Calls `noticed` once, with the migrations of the newer release. */
  onUpgrade(noticed: (migrations: readonly string[]) => void): void {
    this.#noticed = noticed;
  }

  /** Looks into the database; returns whether it was upgraded. */
  async look(): Promise<boolean> {
    if (this.#isUpgraded) return true;
    const unknown = unknownAmong(await appliedMigrations(this.#database.sql));
    if (unknown.length > 0 && !this.#isUpgraded) {
      this.#isUpgraded = true;
      this.#noticed(unknown);
    }
    return this.#isUpgraded;
  }
}
