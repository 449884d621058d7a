import { theirAgent } from './agent-records.ts';
import { invalid } from '../../errors.ts';
import { needed } from './asking.ts';
import { leaveOut, listOf } from './json.ts';
import type { Asked, Json, Operation } from './operation.ts';

const accounts = '/api/v1/accounts/:account_id';
const base = `${accounts}/agents`;
const members = `${accounts}/teams/:id/team_members`;

function readAgent(body: Json): Json {
  const { availability_status: status, ...rest } = body;
  const given = leaveOut(
    { ...(status ? { availability: status } : {}), ...rest },
    ['', null],
    ['availability', 'name', 'role'],
  );
  // Their documentation, and so the clients that are made from it, call it so.
  return given['availability'] === 'available' ? { ...given, availability: 'online' } : given;
}

function theirAgents(agents: unknown): Json[] {
  return listOf(agents).map(theirAgent);
}

function theirPage({ payload }: Json): Json {
  return { payload: theirAgents(payload) };
}

const mostInboxes = 25;

// They answer who is in all of the inboxes, and the administrators; each inbox here answers its own and these.
async function theirAssignable(_: unknown, { account, query, ask }: Asked): Promise<Json> {
  const ids = [...new Set([...query.getAll('inbox_ids[]'), ...query.getAll('inbox_ids')])];
  if (ids.length === 0 || ids.length > mostInboxes || ids.some((id) => !/^[1-9]\d*$/.test(id)))
    throw invalid('/inbox_ids', 'ids', `\`inbox_ids[]\` must be the ids of 1 to ${mostInboxes} inboxes`);
  let shared: Json[] | null = null;
  for (const id of ids) {
    const agents = listOf(needed(await ask('GET', `${account}/inboxes/${id}/assignable_agents`))['payload']);
    const here = new Set(agents.map((agent) => agent['id']));
    shared = shared === null ? agents : shared.filter((agent) => here.has(agent['id']));
  }
  return { payload: theirAgents(shared) };
}

/** Agents, wherever they are listed. */
export const agentOperations: readonly Operation[] = [
  { method: 'GET', path: base, answer: theirAgents },
  { method: 'POST', path: base, body: (body) => ({ role: 'agent', ...readAgent(body) }), answer: theirAgent },
  { method: 'PATCH', path: `${base}/:id`, body: readAgent, answer: theirAgent },
  { method: 'GET', path: members, answer: theirAgents },
  { method: 'POST', path: members, answer: theirAgents },
  { method: 'PATCH', path: members, answer: theirAgents },
  { method: 'GET', path: `${accounts}/assignable_agents`, instead: base, answer: theirAssignable },
  { method: 'GET', path: `${accounts}/inboxes/:id/assignable_agents`, answer: theirPage },
  { method: 'GET', path: `${accounts}/inbox_members/:inbox_id`, answer: theirPage },
  { method: 'POST', path: `${accounts}/inbox_members`, answer: theirPage },
  { method: 'PATCH', path: `${accounts}/inbox_members`, answer: theirPage },
];
