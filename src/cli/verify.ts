import { readLedger, type Ledger } from '../deliveries/log/ledger.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { isMigrated } from '../postgres/migrations/index.ts';
import { printAnswer } from './terminal/print.ts';
import { openDatabase, withDatabase } from './database/with-database.ts';

// Exit codes.
const broken = 1;
const unknown = 2;

/**
 * The command `verify`: holds the database against the ledger's invariants, beside a running service or without one. The
 * process ends with 0 when all hold, 1 when some do not, and 2 when it cannot look.
 */
export async function verify(options: { json?: boolean }): Promise<void> {
  try {
    await withDatabase(
      async (context) => {
        await openDatabase(context, async (database) => {
          if (!(await isMigrated(database.sql)))
            throw new OperatorError(
              'This database is of another version: start its service once, or call `switchboard migrate`.',
            );
        });
        const { config, databaseUrl } = context;
        const ledger = await readLedger({ databaseUrl, holdAttempts: config.holdAttempts, timeoutMs: 0 });
        // On one line, for a log or a pipe.
        if (options.json) console.log(JSON.stringify(ledger));
        else printAnswer(ledger, {}, linesOf);
        if (!ledger.ok) process.exitCode = broken;
      },
      { besideService: true },
    );
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = unknown;
  }
}

function linesOf({ ok, invariants }: Ledger): string[] {
  const lines = invariants.flatMap(({ id, name, violations, sample }) => [
    `${violations === 0 ? '✔' : '✖'} ${id}  ${name}${violations === 0 ? '' : `: ${violations} violations`}`,
    ...sample.map((row) => `      ${JSON.stringify(row)}`),
  ]);
  const found = invariants.filter(({ violations }) => violations > 0).map(({ id }) => id);
  return [...lines, ok ? 'Everything holds.' : `Broken: ${found.join(', ')}`];
}
