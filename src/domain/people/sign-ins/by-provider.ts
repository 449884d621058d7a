import { ApiError } from '../../../errors.ts';
import type { OuterTransaction } from '../../../events/transaction.ts';
import type { Agent } from '../../../records/agent.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { acceptAllOf } from '../invitations.ts';
import { openSignIn, type NewSignIn } from './sign-ins.ts';

const maxAddressChars = 320;

/** A person whom the identity provider has signed in; its shape is that of `OpenIdPerson`. */
interface ProvenPerson {
  email: string | null;
  emailIsVerified: boolean;
  roles: readonly string[];
}

/**
 * The e-mail address that the provider vouches for. Errors: 403 where it tells none, has not verified it, or its domain is not
 * among `domains` (none: all are).
 */
export function provenAddress({ email, emailIsVerified }: ProvenPerson, domains: readonly string[]): string {
  if (email === null || email === '' || email.length > maxAddressChars)
    throw refused('no_address', 'The identity provider does not tell your e-mail address');
  if (!emailIsVerified)
    throw refused('address_unverified', 'The identity provider has not verified your e-mail address');
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (domains.length === 0 || domains.some((allowed) => allowed.toLowerCase() === domain)) return email;
  throw refused('domain_not_allowed', `Addresses of ${domain} may not sign in here by the identity provider`);
}

/**
 * Signs in the person with an address that the identity provider vouches for. Somebody who works in no account yet joins those
 * that have invited the address. The provider asks for second factors itself. Errors: 403 for who is not invited.
 */
export async function signInByProvider(
  tx: OuterTransaction,
  { email, roles }: { email: string; roles: readonly string[] },
  made: NewSignIn,
): Promise<void> {
  const personId =
    (await findWorking(tx.sql, email)) ??
    (await acceptAllOf(tx, { email, role: roleOf(roles) })) ??
    // Another sign-in accepted them meanwhile.
    (await findWorking(tx.sql, email));
  if (personId === null)
    throw refused('not_invited', `Nobody has invited ${email}, or the invitation is too old: ask an administrator`);
  await openSignIn(tx.sql, personId, { ...made, by: 'oidc', now: tx.now });
}

async function findWorking(sql: Sql, email: string): Promise<number | null> {
  const [person] = await sql<{ id: number }>(
    `SELECT id FROM users u WHERE lower(email) = lower($1)
       AND (platform_admin OR EXISTS (SELECT FROM seats WHERE person_id = u.id AND left_at IS NULL))`,
    [email],
  );
  return person?.id ?? null;
}

function roleOf(roles: readonly string[]): Agent['role'] | null {
  if (roles.includes('administrator')) return 'administrator';
  return roles.includes('agent') ? 'agent' : null;
}

function refused(code: string, message: string): ApiError {
  return new ApiError(403, code, message);
}
