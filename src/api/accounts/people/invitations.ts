import { acceptInvitation, findInvitation } from '../../../domain/people/invitations.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { escapeHtml } from '../../../lib/text/escape-html.ts';
import { newToken } from '../../../lib/secrets/tokens.ts';
import { plainPage } from '../../service/plain-page.ts';
import { newSignIn } from '../../service/sign-in/sign-in.ts';

const path = '/invitations/:token';

function welcome(accountName: string, isSignedIn: boolean): string {
  const title = `Welcome to ${accountName}`;
  if (isSignedIn)
    return plainPage({
      title,
      next: '/console',
      content: '<p>You are signed in.</p>\n<a class="button" href="/console">Open the console</a>',
    });
  const content = `<p>You joined ${escapeHtml(accountName)}. You already have access elsewhere: sign in as usual.</p>
<a class="button" href="/console">Sign in</a>`;
  return plainPage({ title, content });
}

/** The link in an invitation. Its visitors have no access token yet, only the token in the path. */
export const invitationRoutes = [
  // GET must not accept the invitation, because mail scanners follow links.
  doors.open(
    ['GET', path, 'Show an invitation'],
    { reply: 'resources/page', role: 'anyone', errors: [410], forPeople: true },
    async ({ sql, now, params }) => {
      const { account, seat } = await findInvitation(sql, params.token, now);
      return plainPage({
        title: `Join ${account.name}`,
        content: `<p>You are invited as ${escapeHtml(seat.name)} (${escapeHtml(seat.email)}).</p>
<form method="post" action="?format=page"><button>Accept and sign in</button></form>`,
      });
    },
  ),
  doors.open(
    ['POST', path, 'Accept an invitation'],
    {
      query: 'requests/invitation.accept.query',
      reply: 'resources/invitation-accepted',
      role: 'anyone',
      errors: [403, 410, 422],
      forPeople: true,
      description:
        'A person who has no access yet gets an access token in this answer only. With `format=page` the browser is signed in instead, unless the link was not mailed and the person has access elsewhere.',
    },
    async (call) => {
      const { services, browser, sql, now, params, query, transact } = call;
      const { token } = params;
      if (query.format === 'page') {
        browser.refuseOthers();
        const signIn = newSignIn(call);
        const { account, granted } = await acceptInvitation(transact, sql, { token, entrance: { signIn }, now });
        if (granted) browser.keep(signIn.token, signIn.expiresAt, now);
        return welcome(account.name, granted);
      }
      const accessToken = newToken('user', services.random);
      const { account, seat, granted } = await acceptInvitation(transact, sql, {
        token,
        entrance: { accessToken },
        now,
      });
      return { ...seat, confirmed: true, account_id: account.id, access_token: granted ? accessToken : null };
    },
  ),
];
