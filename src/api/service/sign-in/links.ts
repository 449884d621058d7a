import { grantLinkByAddress, type Recipient } from '../../../domain/people/sign-ins/links.ts';
import { ApiError } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { Services } from '../../../http/route/call.ts';
import type { Mail } from '../../../lib/mail.ts';
import type { Random } from '../../../lib/ports.ts';

const linkBytes = 24;

const views = { sign_in: '/console', password: '/console/settings/security' };

/** A link that signs its holder in, before it has an address. */
export function newLink(random: Random): string {
  return random.bytes(linkBytes).toString('base64url');
}

/** Address of a page of the console that a link opens: behind the #, where it reaches neither logs nor link scanners. */
export function addressOf({ publicUrl }: Services, link: string, purpose: keyof typeof views = 'sign_in'): string {
  return `${publicUrl()}${views[purpose]}#link=${link}`;
}

/** The mail with a sign-in link. */
export function linkMail({ name, email }: Recipient, link: string, purpose: keyof typeof views = 'sign_in'): Mail {
  const [subject, act] =
    purpose === 'password' ? ['Reset your password', 'set a new password'] : ['Your sign-in link', 'sign in'];
  return {
    to: { name, address: email },
    subject,
    text: `Hello ${name},

Follow this link within 15 minutes to ${act}. It works once:

${link}

If you did not request this link, ignore this mail.
`,
    link,
  };
}

/** Ways to sign in, and the link that goes to a person's mailbox. */
export const signInLinkRoutes = [
  doors.open(
    ['GET', '/sign_in/methods', 'List the sign-in methods'],
    { reply: 'resources/sign-in-methods', role: 'anyone', needsNoDatabase: true },
    async ({ services: { sendsMail, hasProvider } }) => ({ email_link: sendsMail, oidc: hasProvider }),
  ),
  doors.open(
    ['POST', '/sign_in/links', 'Request a sign-in link by mail'],
    {
      body: 'requests/sign-in-link.request',
      reply: 'resources/empty',
      role: 'newcomer',
      status: 202,
      errors: [403],
      description:
        'Answers the same whether anybody has the address. The link works once and within 15 minutes; an address gets at most 5 in 15 minutes (429).',
    },
    async ({ services, browser, body: { email, purpose = 'sign_in' }, transact }) => {
      browser.refuseOthers();
      if (!services.sendsMail)
        throw new ApiError(
          403,
          'no_mail_server',
          'This service sends no mail. Ask an administrator for a sign-in link',
        );
      const link = newLink(services.random);
      await transact(async (tx) => {
        const person = await grantLinkByAddress(tx, { email, link }, services.secretBox);
        if (person) services.mail(tx, linkMail(person, addressOf(services, link, purpose), purpose));
      });
    },
  ),
];
