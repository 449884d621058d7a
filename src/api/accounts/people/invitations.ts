import { acceptInvitation, findInvitation } from '../../../domain/people/invitations.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { escapeHtml } from '../../../lib/text/escape-html.ts';
import { newToken } from '../../../lib/secrets/tokens.ts';

const path = '/invitations/:token';

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body>
<h1>${escapeHtml(title)}</h1>
${content}
</body>
</html>
`;
}

function welcome(accountName: string, accessToken: string | null): string {
  const access =
    accessToken === null
      ? '<p>The API access token that you have opens this account too from now on.</p>'
      : `<p>This is your API access token. It is shown only this once, so keep it now:</p>
<p><code>${escapeHtml(accessToken)}</code></p>`;
  return page(`Welcome to ${accountName}`, access);
}

/** The link in an invitation. Its visitors have no access token yet, only the token in the path. */
export const invitationRoutes = [
  // GET must not accept the invitation, because mail scanners follow links.
  doors.open(
    ['GET', path, 'Show an invitation'],
    { reply: 'resources/page', role: 'anyone', errors: [410] },
    async ({ sql, now, params }) => {
      const { account, seat } = await findInvitation(sql, params.token, now);
      return page(
        `Invitation to ${account.name}`,
        `<p>${escapeHtml(seat.name)} (${escapeHtml(seat.email)}) is invited to work in ${escapeHtml(account.name)}.</p>
<form method="post" action="?format=page"><button>Accept the invitation</button></form>`,
      );
    },
  ),
  doors.open(
    ['POST', path, 'Accept an invitation'],
    {
      query: 'requests/invitation.accept.query',
      reply: 'resources/invitation-accepted',
      role: 'anyone',
      errors: [410, 422],
      description: 'Who holds an access token already goes on with it; who holds none gets one in this answer only.',
    },
    async ({ services, sql, now, params, query, transact }) => {
      const newAccess = newToken('user', services.random);
      const { account, seat, granted } = await acceptInvitation(transact, sql, {
        token: params.token,
        accessToken: newAccess,
        now,
      });
      const accessToken = granted ? newAccess : null;
      if (query.format === 'page') return welcome(account.name, accessToken);
      return { ...seat, confirmed: true, account_id: account.id, access_token: accessToken };
    },
  ),
];
