import type { Sql } from '../../../postgres/sql.ts';
import { listTokens, revokeToken } from '../../../domain/people/access-tokens.ts';
import { resetToken } from '../../../domain/people/users.ts';
import { findMemberships, type Principal } from '../../../domain/people/identity.ts';
import { presentWhole } from '../../page.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { newToken } from '../../../lib/secrets/tokens.ts';
import { unixSeconds, unixSecondsOrNull } from '../../../lib/unix-time.ts';
import type { AccessToken } from '../../../records/access-token.ts';
import type { Shape } from '../../../schemas.ts';

const path = '/api/v1/profile';

/** The profile of a person. */
export async function presentProfile(sql: Sql, principal: Principal): Promise<Shape<'resources/profile'>> {
  const memberships = await findMemberships(sql, principal.id);
  const [first] = memberships;
  return {
    id: principal.id,
    name: principal.name,
    email: principal.email ?? '',
    type: 'user',
    confirmed: principal.confirmed,
    platform_admin: principal.platformAdmin,
    avatar_url: principal.avatarUrl,
    account_id: first?.account.id ?? null,
    role: first?.role ?? null,
    accounts: memberships.map(({ account, agentId, ...part }) => ({ ...account, agent_id: agentId, ...part })),
  };
}

function presentToken(held: AccessToken, { tokenId }: Principal): Shape<'resources/access-token'> {
  const { id, expiresAt, lastFour, userAgent, createdAt } = held;
  return {
    id,
    kind: expiresAt === null ? 'access_token' : 'sign_in',
    last_four: lastFour,
    user_agent: userAgent ?? null,
    current: id === tokenId,
    created_at: unixSeconds(createdAt),
    expires_at: unixSecondsOrNull(expiresAt ?? null),
  };
}

export const profileRoutes = [
  doors.platform(
    ['GET', path, 'Get the profile'],
    { reply: 'resources/profile', record: true, role: 'user' },
    ({ sql, principal }) => presentProfile(sql, principal),
  ),
  doors.platform(
    ['GET', `${path}/access_tokens`, 'List the access tokens and sign-ins of the profile'],
    { reply: 'resources/access-token-list', role: 'user' },
    async ({ sql, now, principal }) =>
      presentWhole(await listTokens(sql, principal.id, now), (held) => presentToken(held, principal)),
  ),
  doors.platform(
    ['DELETE', `${path}/access_tokens/:id`, 'Revoke an access token or a sign-in of the profile'],
    {
      reply: 'resources/empty',
      role: 'user',
      audit: { action: 'token.deleted', ofPerson: true },
      revokes: true,
      description:
        'Streams of events that were opened by it end. Sign-ins that were made with an access token stay: reset the access token to end everything.',
    },
    ({ params, principal, transact }) => transact((tx) => revokeToken(tx, principal.id, params.id)),
  ),
  doors.platform(
    ['POST', `${path}/reset_access_token`, 'Reset the access token of the profile'],
    {
      reply: 'resources/profile-with-token',
      revokes: true,
      role: 'user',
      audit: { action: 'token.reset', ofPerson: true },
      description: 'Every access token the user held stops working; the new one is in this answer only.',
    },
    async ({ services, sql, principal, transact }) => {
      const token = newToken('user', services.random);
      const held = { userId: principal.id, tokenId: principal.tokenId };
      await transact((tx) => resetToken(tx, held, token));
      return { ...(await presentProfile(sql, principal)), access_token: token };
    },
  ),
];
