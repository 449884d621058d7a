import { theirAgent } from './agent-records.ts';
import { needed } from './asking.ts';
import { momentText, theirConversation } from './conversation-records.ts';
import { leaveOut, listOf, objectOf, unpack } from './json.ts';
import { readLabels } from './label-use.ts';
import type { Asked, Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/conversations';

// Without a status an open conversation is resolved, and any other is opened.
async function readMove(body: Json, { account, params, ask }: Asked): Promise<Json> {
  const given = leaveOut(body, ['', null], ['status', 'snoozed_until']);
  if (given['status'] !== undefined) return given;
  const { status } = needed(await ask('GET', `${account}/conversations/${params['id']}`));
  return { ...given, status: status === 'open' ? 'resolved' : 'open' };
}

function theirMove({ payload }: Json): Json {
  const { success, current_status: now, conversation_id: id, snoozed_until: until } = objectOf(payload);
  const moved = { success, current_status: now, conversation_id: id, snoozed_until: momentText(until) };
  return { meta: {}, payload: moved, ...moved };
}

// Empty inputs of a form do not remove the team.
function readAssignment(body: Json): Json {
  const { assignee_id: assignee, team_id: team, assignee_type: type, agent_bot_id: _ours, ...rest } = body;
  const isForTeam = team !== undefined && team !== '' && !(team === 0 && assignee);
  return {
    ...rest,
    ...(assignee === undefined || assignee === '' ? {} : readHolder(assignee, type)),
    ...(isForTeam ? { team_id: team === 0 ? null : team } : {}),
  };
}

// An empty id removes the bot and the agent: Chatwoot has one field for both.
function readHolder(id: unknown, type: unknown): Json {
  if (type !== 'AgentBot') return { assignee_id: id };
  return id === 0 || id === null ? { assignee_id: null, agent_bot_id: null } : { agent_bot_id: id };
}

// Chatwoot returns the new owner: the agent or the bot that was named, else the team.
async function theirAssignment(record: Json, { account, sent, ask }: Asked): Promise<Json | null> {
  const { assignee, team, agent_bot: bot } = objectOf(record['meta']);
  if (sent['assignee_type'] === 'AgentBot' && sent['assignee_id'] && bot) {
    return { ...objectOf(bot), available_name: objectOf(bot)['name'], thumbnail: '', type: 'agent_bot' };
  }
  if (assignee) {
    const { body } = await ask('GET', `${account}/agents`);
    const { id } = objectOf(assignee);
    return theirAgent(listOf(body).find((agent) => agent['id'] === id) ?? objectOf(assignee));
  }
  if (!team) return null;
  const { status, body } = await ask('GET', `${account}/teams/${String(objectOf(team)['id'])}`);
  return status === 200 ? objectOf(body) : objectOf(team);
}

/** Blocks or unblocks the contact of the conversation. Throws the errors of our routes. */
async function setBlocked(record: Json, { account, ask }: Asked, blocked: boolean): Promise<void> {
  const contact = objectOf(objectOf(record['meta'])['sender'])['id'];
  needed(await ask('PATCH', `${account}/contacts/${String(contact)}`, { blocked }));
}

// The contact first: a caller who may not change it must not resolve the conversation either.
async function theirMute(record: Json, asked: Asked): Promise<null> {
  await setBlocked(record, asked, true);
  const path = `${asked.account}/conversations/${String(record['id'])}/toggle_status`;
  needed(await asked.ask('POST', path, { status: 'resolved' }));
  return null;
}

async function theirUnmute(record: Json, asked: Asked): Promise<null> {
  await setBlocked(record, asked, false);
  return null;
}

function readAttributes(body: Json): Json {
  const { custom_attributes: given } = unpack(body, ['custom_attributes']);
  return { custom_attributes: given ?? {} };
}

/** Operations that act on a conversation. */
export const conversationActionOperations: readonly Operation[] = [
  { method: 'PATCH', path: base, answer: theirConversation },
  { method: 'POST', path: `${base}/:id/toggle_status`, body: readMove, answer: theirMove },
  {
    method: 'POST',
    path: `${base}/:id/toggle_priority`,
    body: (body) => ({ ...body, priority: body['priority'] || null }),
    answer: theirConversation,
  },
  { method: 'POST', path: `${base}/:id/assignments`, body: readAssignment, answer: theirAssignment },
  { method: 'POST', path: `${base}/:id/mute`, instead: `${base}/:id`, answer: theirMute },
  { method: 'POST', path: `${base}/:id/unmute`, instead: `${base}/:id`, answer: theirUnmute },
  { method: 'POST', path: `${base}/:id/update_last_seen`, answer: theirConversation },
  { method: 'POST', path: `${base}/:id/labels`, body: readLabels },
  {
    method: 'POST',
    path: `${base}/:id/custom_attributes`,
    body: readAttributes,
    answer: ({ custom_attributes: attributes }: Json) => ({ custom_attributes: attributes }),
  },
];
