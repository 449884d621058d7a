import { beginImport, listImports, type Import } from '../../domain/imports/imports.ts';
import type { Transaction } from '../../events/transaction.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { printable } from '../../lib/text/printable.ts';

/** What the operator says about earlier imports into the account. */
export interface Continuing {
  /** The source as an earlier import knows it, which may have another address now. */
  source?: string;
  /** Whether an import may begin beside others. */
  another?: boolean;
}

/**
 * The import that the account has of a source, or a new one. Errors: OperatorError where it has others alone, since the same
 * server by another address would be copied a second time; and where there is none with the source that is named.
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

// The ids of records are those of an account there: of another one they are others'.
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
