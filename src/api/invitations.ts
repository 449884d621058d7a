import { acceptInvitation, findInvitation } from '../domain/invitations.ts';
import { route } from '../http/route.ts';
import { newToken } from '../lib/tokens.ts';

const path = '/invitations/:token';
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head>
<body>
<h1>${escaped(title)}</h1>
${content}
</body>
</html>
`;
}

/** Where the link in an invitation leads: nobody there has a token yet, but the one in the path. */
export const invitationRoutes = [
  // Mail scanners follow links, so looking at an invitation does not accept it.
  route(
    ['GET', path],
    { summary: 'Show an invitation', reply: 'resources/page', role: 'anyone', errors: [410] },
    async ({ em, now, names }) => {
      const { account, user } = await findInvitation(em, names.token ?? '', now);
      return page(
        `Invitation to ${account.name}`,
        `<p>${escaped(user.name)} (${escaped(user.email)}) is invited to work in ${escaped(account.name)}.</p>
<form method="post" action="?format=page"><button>Accept the invitation</button></form>`,
      );
    },
  ),
  route(
    ['POST', path],
    {
      summary: 'Accept an invitation',
      query: 'requests/invitation.accept.query',
      reply: 'resources/invitation-accepted',
      role: 'anyone',
      errors: [410],
    },
    async ({ services, em, now, names, query, transactIn }) => {
      const accessToken = newToken('user', services.random);
      const { account, user } = await acceptInvitation(transactIn, em, {
        token: names.token ?? '',
        accessToken,
        now,
      });
      if (query.format === 'page') {
        return page(
          `Welcome to ${account.name}`,
          `<p>This is your API access token. It is shown only this once, so keep it now:</p>
<p><code>${escaped(accessToken)}</code></p>`,
        );
      }
      return { ...user, confirmed: true, account_id: account.id, access_token: accessToken };
    },
  ),
];
