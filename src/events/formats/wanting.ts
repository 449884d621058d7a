import type { Database } from '../../postgres/database.ts';

/** Beyond this number all are forgotten. */
const maxAccounts = 10_000;
const known = new WeakMap<Database, Set<number>>();

/**
 * The accounts that want bodies in another format, as far as a pool's transactions have noticed. A guess that costs nothing:
 * where it lacks an account, the statement that writes the events refuses them (`refuse_unformatted`), and the transaction is
 * run again with the account in it.
 */
export function wantingAccounts(database: Database): Pick<Set<number>, 'has' | 'delete'> & { add(id: number): void } {
  const accounts = known.get(database) ?? new Set();
  known.set(database, accounts);
  return {
    has: (id) => accounts.has(id),
    delete: (id) => accounts.delete(id),
    add: (id) => {
      if (accounts.size >= maxAccounts) accounts.clear();
      accounts.add(id);
    },
  };
}
