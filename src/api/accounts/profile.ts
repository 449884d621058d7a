import type { EntityManager } from '@mikro-orm/postgresql';
import { resetToken } from '../../domain/people/users.ts';
import { findMemberships, type Principal } from '../../domain/people/identity.ts';
import { doors } from '../../http/route/doors.ts';
import { newToken } from '../../lib/tokens.ts';
import type { Shape } from '../../schemas.ts';

const path = '/api/v1/profile';

/** The profile of a person. */
export async function presentProfile(em: EntityManager, principal: Principal): Promise<Shape<'resources/profile'>> {
  const memberships = await findMemberships(em, principal.id);
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

export const profileRoutes = [
  doors.platform(
    ['GET', path, 'Get the profile'],
    { reply: 'resources/profile', record: true, role: 'user' },
    ({ em, principal }) => presentProfile(em, principal),
  ),
  doors.platform(
    ['POST', `${path}/reset_access_token`, 'Reset the access token of the profile'],
    {
      reply: 'resources/profile-with-token',
      role: 'user',
      description: 'Every access token the user held stops working; the new one is in this answer only.',
    },
    async ({ services, em, principal, transact }) => {
      const token = newToken('user', services.random);
      const held = { userId: principal.id, tokenId: principal.tokenId };
      await transact((tx) => resetToken(tx, held, token));
      return { ...(await presentProfile(em, principal)), access_token: token };
    },
  ),
];
