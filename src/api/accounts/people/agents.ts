import { deleteAgent } from '../../../domain/people/agent-removal.ts';
import { createAgent, findAgents, inviteAgain, updateAgent, type AgentProfile } from '../../../domain/people/agents.ts';
import type { Principal } from '../../../domain/people/identity.ts';
import { removeFactorOfAgent } from '../../../domain/people/sign-ins/second-factors.ts';
import { grantLinkToAgent, mayBeShown } from '../../../domain/people/sign-ins/links.ts';
import type { Transaction } from '../../../events/transaction.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { Services } from '../../../http/route/call.ts';
import { withoutUndefined } from '../../../lib/without-undefined.ts';
import { newToken } from '../../../lib/secrets/tokens.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import { addressOf, linkMail, newLink } from '../../service/sign-in/links.ts';
import type { Shape } from '../../../schemas.ts';

const base = '/api/v1/accounts/:account_id/agents';

/** An agent in REST answers. */
export function presentAgent(agent: AgentProfile): Shape<'resources/agent'> {
  return {
    id: agent.id,
    account_id: agent.accountId,
    name: agent.name,
    email: agent.email,
    role: agent.role,
    availability: agent.availability,
    availability_status: agent.availability,
    confirmed: agent.confirmed,
    avatar_url: agent.avatarUrl,
    created_at: unixSeconds(agent.createdAt),
    updated_at: unixSeconds(agent.updatedAt),
  };
}

interface Invited {
  agent: AgentProfile;
  token: string;
  principal: Principal;
}

/** Mails the invitation; returns its link where it cannot be mailed and the inviter may see it. */
async function sendInvitation(
  { mail, publicUrl, sendsMail }: Services,
  tx: Transaction,
  { agent, token, principal }: Invited,
): Promise<string | null> {
  const { account, actor } = tx;
  const link = `${publicUrl()}/invitations/${token}`;
  mail(tx, {
    to: { name: agent.name, address: agent.email },
    subject: `Invitation to ${account.name}`,
    text: `Hello ${agent.name},

${actor.name} invites you to work in ${account.name}. Follow this link within 7 days to accept:

${link}

If you do not know why you got this mail, there is nothing you need to do.
`,
    link,
  });
  if (sendsMail) return null;
  return principal.platformAdmin || (await mayBeShown(tx.sql, null)) ? link : null;
}

function linkOf({ sendsMail }: Services, token: string) {
  return { token, mailed: sendsMail };
}

export const agentRoutes = [
  doors.account(
    ['GET', base, 'List agents'],
    { reply: 'resources/agent-list', role: 'agent' },
    async ({ sql, account }) => (await findAgents(sql, account.id)).map(presentAgent),
  ),
  doors.account(
    ['POST', base, 'Create an agent'],
    {
      body: 'requests/agent.create',
      reply: 'resources/invited-agent',
      role: 'administrator',
      status: 201,
      description:
        'An invitation goes to the e-mail address, at most 20 an hour. Without a mail server its link is in the answer, if the caller is a platform administrator or this is the only account. The agent is listed and can be assigned at once, and is in once it is accepted.',
    },
    async ({ services, principal, body, transact }) => {
      const { name, email, role, availability = 'online' } = body;
      const token = newToken('invitation', services.random);
      return transact(async (tx) => {
        const agent = await createAgent(tx, { name, email, role, availability }, linkOf(services, token));
        const link = await sendInvitation(services, tx, { agent, token, principal });
        return { ...presentAgent(agent), invitation_link: link };
      });
    },
  ),
  doors.account(
    ['POST', `${base}/:id/resend_invitation`, 'Resend the invitation of an agent'],
    {
      reply: 'resources/invited-agent',
      role: 'administrator',
      audit: { action: 'invitation.resent' },
      description: 'The link that was sent before is void then.',
    },
    async ({ services, principal, params, transact }) => {
      const token = newToken('invitation', services.random);
      return transact(async (tx) => {
        const agent = await inviteAgain(tx, params.id, linkOf(services, token));
        const link = await sendInvitation(services, tx, { agent, token, principal });
        return { ...presentAgent(agent), invitation_link: link };
      });
    },
  ),
  doors.account(
    ['POST', `${base}/:id/sign_in_link`, 'Send an agent a sign-in link'],
    {
      reply: 'resources/sign-in-link',
      role: 'administrator',
      audit: { action: 'sign_in_link.created' },
      description:
        'The link works once and within 15 minutes; it goes to the address of the person. Without a mail server it is in the answer, if it opens nothing but this account or the caller is a platform administrator.',
    },
    async ({ services, principal, params, transact }) => {
      const { random, secretBox, sendsMail } = services;
      const token = newLink(random);
      return transact(async (tx) => {
        const person = await grantLinkToAgent(tx, { agentId: params.id, link: token }, secretBox);
        const link = addressOf(services, token);
        if (!sendsMail && (principal.platformAdmin || (await mayBeShown(tx.sql, person.id))))
          return { sent_by: 'answer' as const, link };
        services.mail(tx, linkMail(person, link));
        return { sent_by: sendsMail ? ('mail' as const) : ('log' as const), link: null };
      });
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id/second_factor`, 'Remove the second factor of an agent'],
    {
      reply: 'resources/empty',
      role: 'administrator',
      audit: { action: 'second_factor.deleted' },
      description:
        'For an agent who lost it. If the agent has access beyond this account, for platform administrators only.',
    },
    ({ principal, params, transact }) =>
      transact((tx) => removeFactorOfAgent(tx, params.id, { isPlatform: principal.platformAdmin })),
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update an agent'],
    {
      body: 'requests/agent.update',
      reply: 'resources/agent',
      role: 'agent',
      audit: { only: ['name', 'role'] },
      description: 'Administrators change everybody; an agent changes its own availability.',
    },
    async ({ params, body: { name, role, availability }, transact }) =>
      presentAgent(await transact((tx) => updateAgent(tx, params.id, withoutUndefined({ name, role, availability })))),
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete an agent'],
    { reply: 'resources/empty', role: 'administrator', inBatches: true },
    ({ params, transact }) => deleteAgent(transact, params.id),
  ),
];
