import { findTokenHolder, replaceLostToken } from '../../domain/people/users.ts';
import { transactOutside } from '../../events/transaction.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { systemRandom } from '../../lib/ports.ts';
import { newToken } from '../../lib/secrets/tokens.ts';
import { isMigrated } from '../../postgres/migrations/index.ts';
import { openDatabase, withDatabase } from './with-database.ts';

/** The command `token`: prints a new access token for a person who lost theirs; works while the service is running. */
export async function printToken({ email, revoke = false }: { email?: string; revoke?: boolean }): Promise<void> {
  const work = (context: Parameters<typeof openDatabase>[0]) =>
    openDatabase(context, async (database) => {
      const sql = database.sql;
      if (!(await isMigrated(sql)))
        throw new OperatorError('This database is not set up yet: start the service first.');
      const holder = await findTokenHolder(sql, email ?? null);
      if (!holder)
        throw new OperatorError(
          email ? `Nobody here has the e-mail address ${email}.` : 'There are no people in this database yet.',
        );
      const token = newToken('user', systemRandom);
      await transactOutside(database, (tx) => replaceLostToken(tx, { userId: holder.id, revoke }, token));
      const others = revoke ? 'Earlier tokens are revoked.' : 'Earlier tokens stay valid; --revoke revokes them.';
      console.log(`Access token of ${holder.name} <${holder.email}>, shown only this once:\n  ${token}\n${others}`);
    });
  await withDatabase(work, { besideService: true });
}
