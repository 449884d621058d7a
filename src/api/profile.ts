import { findMemberships } from '../domain/identity.ts';
import { route } from '../http/route.ts';

export const profileRoutes = [
  route(['GET', '/api/v1/profile'], { reply: 'resources/profile', role: 'user' }, async ({ em, principal }) => {
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
      accounts: memberships.map(({ account, role, availability }) => ({ ...account, role, availability })),
    };
  }),
];
