import type { Database } from '../../postgres/database.ts';
import { addAgent, createAccount, createUser, grantToken, hasAccounts } from '../../domain/people/users.ts';
import { furnishDemo } from '../../demo/furnish.ts';
import { receiverEndpoint, receiverUrl } from '../../demo/endpoint.ts';
import { transactOutside, type Transaction } from '../../events/transaction.ts';
import type { Config } from '../../config.ts';
import type { Random } from '../../lib/ports.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import { newToken } from '../../lib/secrets/tokens.ts';

/** The first account's name, and its data besides its administrator, whose seat is `administratorId`. */
export interface Furnishing {
  accountName: string;
  furnish: (tx: Transaction, administratorId: number) => Promise<void>;
}

export interface SeedOptions {
  database: Database;
  random: Random;
  /** The first administrator's token; generated when null. */
  adminToken: string | null;
  furnishing: Furnishing;
}

/** Results of the first start. `generatedToken` is shown once and stored only as a hash. */
export interface Seeded {
  generatedToken: string | null;
}

// Two processes may start at the same time on an empty database.
const lockStatement = 'SELECT pg_advisory_xact_lock(7237002)';

/** Returns the data of the first account: the demonstration data with DEMO, else nothing. */
export function furnishingOf(
  { demo, secretKey }: Pick<Config, 'demo' | 'secretKey'>,
  tools: { random: Random; secretBox: SecretBox },
): Furnishing {
  if (!demo) return { accountName: 'First account', furnish: () => Promise.resolve() };
  const url = receiverUrl(receiverEndpoint(secretKey));
  return {
    accountName: 'Demo account',
    furnish: (tx, administratorId) => furnishDemo(tx, administratorId, { ...tools, receiverUrl: url }),
  };
}

/**
 * Makes an empty database usable: creates account 1 with its first administrator, who is platform administrator too, and
 * furnishes it. Returns null when there are accounts already.
 */
export async function seed({ database, random, adminToken, furnishing }: SeedOptions): Promise<Seeded | null> {
  return transactOutside(database, async (outer) => {
    const { sql, now } = outer;
    await sql(lockStatement);
    if (await hasAccounts(sql)) return null;
    const { id, name } = await createAccount(sql, furnishing.accountName, now);
    const user = await createUser(
      sql,
      { name: 'Administrator', email: 'administrator@example.com', confirmed: true, platformAdmin: true },
      now,
    );
    const { userId: seat } = await addAgent(sql, { accountId: id, userId: user.id, role: 'administrator', now });
    const token = adminToken ?? newToken('user', random);
    await grantToken(sql, user.id, token, now);
    await furnishing.furnish(outer.in({ id, name }), seat);
    return { generatedToken: adminToken === null ? token : null };
  });
}
