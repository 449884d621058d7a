import { agentBotOf } from './agent-bots.ts';
import { channelUrlOf, setChannelUrl } from './channel-webhooks.ts';
import { leaveOut, listOf } from './json.ts';
import type { Asked, Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/inboxes';

/** An inbox as they tell it: it has one channel, and no empty picture or greeting is null. */
function theirInbox(inbox: Json): Json {
  const { avatar_url: picture, greeting_message: greeting } = inbox;
  return { ...inbox, avatar_url: picture ?? '', greeting_message: greeting ?? '', channel_id: inbox['id'] };
}

function readInbox(body: Json): Json {
  return leaveOut(body, ['', null], ['name', 'timezone', 'greeting_enabled', 'enable_auto_assignment', 'channel']);
}

// An inbox whose URL cannot be called would tell nobody: it is taken back.
async function theirNew(inbox: Json, asked: Asked): Promise<Json> {
  const url = channelUrlOf(asked.sent);
  if (url === undefined) return theirInbox(inbox);
  try {
    await setChannelUrl(asked, inbox['id'], url);
  } catch (error) {
    await asked.ask('DELETE', `${asked.account}/inboxes/${String(inbox['id'])}`);
    throw error;
  }
  return { ...theirInbox(inbox), webhook_url: url };
}

async function theirChanged(inbox: Json, asked: Asked): Promise<Json> {
  const url = channelUrlOf(asked.sent);
  if (url === undefined) return theirInbox(inbox);
  await setChannelUrl(asked, inbox['id'], url);
  return { ...theirInbox(inbox), webhook_url: url };
}

/** Inboxes, and their bots. */
export const inboxOperations: readonly Operation[] = [
  { method: 'GET', path: base, answer: ({ payload }: Json) => ({ payload: listOf(payload).map(theirInbox) }) },
  { method: 'GET', path: `${base}/:id`, answer: theirInbox },
  { method: 'POST', path: base, body: readInbox, answer: theirNew },
  { method: 'PATCH', path: `${base}/:id`, body: readInbox, answer: theirChanged },
  { method: 'GET', path: `${base}/:id/agent_bot`, answer: agentBotOf },
  {
    method: 'POST',
    path: `${base}/:id/set_agent_bot`,
    body: ({ agent_bot: bot = null }) => ({ agent_bot: bot === 0 || bot === '' ? null : bot }),
    answer: agentBotOf,
  },
];
