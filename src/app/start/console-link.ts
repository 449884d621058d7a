import { findTokenHolder } from '../../domain/people/users.ts';
import { grantSignInLink } from '../../domain/people/sign-ins/links.ts';
import { transactOutside } from '../../events/transaction.ts';
import type { Random } from '../../lib/ports.ts';
import type { Database } from '../../postgres/database.ts';

// 144 random bits, few enough characters for the line of a terminal.
const linkBytes = 18;

/**
 * A link to the console at `url` that signs a person in, once and within 30 minutes: the holder of the e-mail address, for null
 * the first platform administrator. Null when there is no such person.
 */
export async function makeConsoleLink(
  { database, random }: { database: Database; random: Random },
  { url, email }: { url: string; email: string | null },
): Promise<string | null> {
  const link = random.bytes(linkBytes).toString('base64url');
  const isMade = await transactOutside(database, async (tx) => {
    const holder = await findTokenHolder(tx.sql, email);
    if (holder) await grantSignInLink(tx, holder.id, link);
    return holder !== null;
  });
  // Behind the #, where it reaches neither logs nor programs that follow links to look at them.
  return isMade ? `${url}/console#link=${link}` : null;
}
