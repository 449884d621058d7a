import type { Database } from '../../postgres/database.ts';

/** Beyond this number all are forgotten. */
const maxAccounts = 10_000;
const known = new WeakMap<Database, WantingAccounts>();

/**
 * The accounts that want bodies in another format, as far as a pool's transactions have noticed. A guess that costs nothing:
 * where it lacks an account, the statement that writes the events refuses them (`refuse_unformatted`), and the transaction is
 * run again with the account in it.
 */
export function wantingAccounts(database: Database): WantingAccounts {
  const accounts = known.get(database) ?? new WantingAccounts();
  if (!known.has(database)) known.set(database, accounts);
  return accounts;
}

class WantingAccounts {
  readonly #ids = new Set<number>();

  has(id: number): boolean {
    return this.#ids.has(id);
  }

  add(id: number): void {
    if (this.#ids.size >= maxAccounts) this.#ids.clear();
    this.#ids.add(id);
  }

  delete(id: number): void {
    this.#ids.delete(id);
  }
}
