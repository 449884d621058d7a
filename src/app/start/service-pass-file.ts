import { existsSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { findPrincipal } from '../../domain/people/identity.ts';
import { findTokenHolder, grantToken } from '../../domain/people/users.ts';
import { transactOutside } from '../../events/transaction.ts';
import type { Random } from '../../lib/ports.ts';
import { readServicePass, writeServicePass } from '../../lib/service-pass.ts';
import { hashToken, newToken } from '../../lib/secrets/tokens.ts';
import type { Database } from '../../postgres/database.ts';

/**
 * Leaves in DATA_DIR where the service listens and a token of the first platform administrator, for the commands of the
 * operator. The token that an earlier start left is kept while it is valid. A DATA_DIR that does not exist is not made.
 */
export async function leavePass(
  { config, url }: { config: Config; url: string },
  { database, random }: { database: Database; random: Random },
): Promise<void> {
  const { dataDir } = config;
  if (!existsSync(dataDir)) return;
  const kept = readServicePass(dataDir)?.token;
  const token = kept && (await isValid(database, kept)) ? kept : await grantPassToken(database, random);
  if (token !== null) await writeServicePass(dataDir, { url, token });
}

async function isValid(database: Database, token: string): Promise<boolean> {
  const principal = await findPrincipal(database.sql, hashToken(token));
  return principal?.platformAdmin ?? false;
}

function grantPassToken(database: Database, random: Random): Promise<string | null> {
  return transactOutside(database, async ({ sql, now }) => {
    const holder = await findTokenHolder(sql, null);
    if (!holder) return null;
    const token = newToken('user', random);
    await grantToken(sql, holder.id, token, now);
    return token;
  });
}
