import { beginImport, listImports, type Import } from '../../domain/imports/imports.ts';
import type { Transaction } from '../../events/transaction.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { printable } from '../../lib/text/printable.ts';

/** Options about earlier imports into the account. */
export interface Continuing {
  /** Name of the source in an earlier import, if its address has changed since. */
  source?: string;
  /** Whether a new import may begin beside others. */
  another?: boolean;
}

/**
 * Returns the id of the account's import of a source, or of a new one. Throws OperatorError if the account has imports of
 * other sources alone, since the same server at another address would be copied a second time; and if it has none of the
 * source that `said` names.
 */
export async function openImport(tx: Transaction, source: string, said: Continuing): Promise<number> {
  const all = await listImports(tx);
  if (said.source !== undefined) return named(all, said.source, source).id;
  const present = all.find((one) => one.source === source);
  if (present) return present.id;
  if (all.length > 0 && !said.another)
    throw new OperatorError(
      `This account has copies from ${sourcesOf(all)}, and none from ${source}. Is that the same? Give --source with the address of that time, and nothing is copied twice. Is it another one? Give --another.`,
    );
  return beginImport(tx, source);
}

// Ids of records are valid within one Chatwoot account, so the source must be the same account.
function named(all: readonly Import[], given: string, source: string): Import {
  const account = /\/accounts\/\d+$/.exec(source)?.[0] ?? '';
  const wanted = given.replace(/\/+$/, '');
  const found = all.find((one) => one.source === wanted || one.source === wanted + account);
  if (!found)
    throw new OperatorError(
      `--source: this account has no copies from ${printable(given)}, but from ${all.length === 0 ? 'nowhere' : sourcesOf(all)}.`,
    );
  if (!found.source.endsWith(account))
    throw new OperatorError(`--source: ${found.source} is another account of theirs than ${source}.`);
  return found;
}

function sourcesOf(all: readonly Import[]): string {
  return all.map(({ source }) => source).join(', ');
}
