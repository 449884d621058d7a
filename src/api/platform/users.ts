import type { Sql } from '../../postgres/sql.ts';
import { findMemberships } from '../../domain/people/identity.ts';
import { addUser, deleteUser, readUser, resetUserToken, updateUser } from '../../domain/platform/users.ts';
import type { User } from '../../records/user.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { newToken } from '../../lib/secrets/tokens.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/platform/api/v1/users';

async function presentUser(sql: Sql, user: User): Promise<Shape<'resources/platform-user'>> {
  const memberships = await findMemberships(sql, user.id);
  return {
    id: user.id,
    name: user.name,
    email: user.email,
    confirmed: user.confirmed,
    platform_admin: user.platformAdmin,
    avatar_url: user.avatarUrl ?? null,
    accounts: memberships.map(({ account, role }) => ({ ...account, role })),
    created_at: unixSeconds(user.createdAt),
    updated_at: unixSeconds(user.updatedAt),
  };
}

export const platformUserRoutes = [
  doors.platform(
    ['GET', `${base}/:id`, 'Get a user'],
    { reply: 'resources/platform-user', record: true, role: 'platform' },
    async ({ sql, params }) => presentUser(sql, await readUser(sql, params.id)),
  ),
  doors.platform(
    ['POST', base, 'Create a user'],
    {
      body: 'requests/platform-user.create',
      reply: 'resources/platform-user-with-token',
      role: 'platform',
      status: 201,
      description: 'The access token is in this answer only.',
    },
    async ({ services, sql, body, transact }) => {
      const token = newToken('user', services.random);
      const profile = {
        name: body.name,
        email: body.email,
        avatarUrl: body.avatar_url ?? null,
        platformAdmin: body.platform_admin ?? false,
      };
      const user = await transact((tx) => addUser(tx, profile, token));
      return { ...(await presentUser(sql, user)), access_token: token };
    },
  ),
  doors.platform(
    ['PATCH', `${base}/:id`, 'Update a user'],
    { body: 'requests/platform-user.update', reply: 'resources/platform-user', role: 'platform' },
    async ({ sql, params, body, transact }) => {
      const { name, email, avatar_url: avatarUrl, platform_admin: platformAdmin } = body;
      const changes = withoutUndefined({ name, email, avatarUrl, platformAdmin });
      return presentUser(sql, await transact((tx) => updateUser(tx, params.id, changes)));
    },
  ),
  doors.platform(
    ['POST', `${base}/:id/reset_access_token`, 'Reset the access token of a user'],
    {
      reply: 'resources/platform-user-with-token',
      role: 'platform',
      audit: { action: 'token.reset' },
      description: 'Every access token the user held stops working; the new one is in this answer only.',
    },
    async ({ services, sql, params, transact }) => {
      const token = newToken('user', services.random);
      const user = await transact((tx) => resetUserToken(tx, params.id, token));
      return { ...(await presentUser(sql, user)), access_token: token };
    },
  ),
  doors.platform(
    ['DELETE', `${base}/:id`, 'Delete a user'],
    {
      reply: 'resources/empty',
      role: 'platform',
      inBatches: true,
      description: 'The user leaves every account; what the user wrote stays without its author.',
    },
    ({ sql, params, transact }) => deleteUser(transact, sql, params.id),
  ),
];
