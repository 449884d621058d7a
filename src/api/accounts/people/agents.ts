import { deleteAgent } from '../../../domain/people/agent-removal.ts';
import { createAgent, findAgents, inviteAgain, updateAgent, type AgentProfile } from '../../../domain/people/agents.ts';
import type { Transaction } from '../../../events/transaction.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { Services } from '../../../http/route/call.ts';
import { withoutUndefined } from '../../../lib/without-undefined.ts';
import { newToken } from '../../../lib/secrets/tokens.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
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

function sendInvitation(
  { mail, publicUrl }: Services,
  tx: Transaction,
  { agent, token }: { agent: AgentProfile; token: string },
): void {
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
      reply: 'resources/agent',
      role: 'administrator',
      status: 201,
      description:
        'An invitation goes to the e-mail address, at most 20 an hour. The agent is listed and can be assigned at once, and is in once it is accepted.',
    },
    async ({ services, body, transact }) => {
      const { name, email, role, availability = 'online' } = body;
      const token = newToken('invitation', services.random);
      return transact(async (tx) => {
        const agent = await createAgent(tx, { name, email, role, availability }, token);
        sendInvitation(services, tx, { agent, token });
        return presentAgent(agent);
      });
    },
  ),
  doors.account(
    ['POST', `${base}/:id/resend_invitation`, 'Resend the invitation of an agent'],
    { reply: 'resources/agent', role: 'administrator', description: 'The link that was sent before is void then.' },
    async ({ services, params, transact }) => {
      const token = newToken('invitation', services.random);
      return transact(async (tx) => {
        const agent = await inviteAgain(tx, params.id, token);
        sendInvitation(services, tx, { agent, token });
        return presentAgent(agent);
      });
    },
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update an agent'],
    {
      body: 'requests/agent.update',
      reply: 'resources/agent',
      role: 'agent',
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
