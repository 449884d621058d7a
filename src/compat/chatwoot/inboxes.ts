import { ApiError } from '../../errors.ts';
import { agentBotOf } from './agent-bots.ts';
import { channelUrlOf, checkChannelUrl, makeChannelWebhook, setChannelUrl } from './channel-webhooks.ts';
import { isObject, leaveOut, listOf, objectOf, without } from './json.ts';
import type { Asked, Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/inboxes';

/** An inbox as they tell it: it has one channel, and no empty picture or greeting is null. */
function theirInbox(inbox: Json): Json {
  const { avatar_url: picture, greeting_message: greeting } = inbox;
  return { ...inbox, avatar_url: picture ?? '', greeting_message: greeting ?? '', channel_id: inbox['id'] };
}

async function readInbox(body: Json, asked: Asked): Promise<Json> {
  await checkChannelUrl(asked);
  const { channel } = body;
  const own = isObject(channel) ? { ...body, channel: without(channel, 'webhook_url') } : body;
  return leaveOut(own, ['', null], ['name', 'timezone', 'greeting_enabled', 'enable_auto_assignment', 'channel']);
}

async function theirNew(inbox: Json, asked: Asked): Promise<Json> {
  const url = channelUrlOf(asked.sent);
  if (typeof url !== 'string') return theirInbox(inbox);
  try {
    await makeChannelWebhook(asked, inbox['id'], url);
  } catch (error) {
    if (!(error instanceof ApiError) || (await takeBack(inbox, asked, error))) throw error;
    const sentence = `${error.message}. Inbox ${String(inbox['id'])} is there, its webhook is not: set its URL with PATCH`;
    throw new ApiError(error.status, error.code, sentence, error);
  }
  return { ...theirInbox(inbox), webhook_url: url };
}

// An inbox that can have no webhook would tell nobody, and each new try would make another. One that was answered before is in
// use, and what only failed for the moment is mended by a retry.
async function takeBack({ id }: Json, { account, ask, isReplayed }: Asked, { status }: ApiError): Promise<boolean> {
  if (isReplayed() || status >= 500 || status === 429 || status === 409) return false;
  const counted = await ask('GET', `${account}/conversations/meta?inbox_id=${String(id)}`);
  const { all_count: count } = objectOf(objectOf(counted.body)['meta']);
  if (count !== 0) return false;
  return (await ask('DELETE', `${account}/inboxes/${String(id)}`)).status === 200;
}

async function theirChanged(inbox: Json, asked: Asked): Promise<Json> {
  const url = channelUrlOf(asked.sent);
  if (url === undefined) return theirInbox(inbox);
  await setChannelUrl(asked, inbox['id'], url);
  return { ...theirInbox(inbox), webhook_url: url ?? '' };
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
