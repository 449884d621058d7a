import { restOf } from './asking.ts';
import { theirFormat } from './format.ts';
import { leaveOut, objectOf, unpack, without } from './json.ts';
import type { Asked, Json, Operation } from './operation.ts';

const bases = ['/api/v1/accounts/:account_id/agent_bots', '/platform/api/v1/agent_bots'];

/** The bot of an inbox. */
export function agentBotOf({ agent_bot: bot }: Json): Json {
  return { agent_bot: bot ? theirBot(objectOf(bot)) : null };
}

function theirBot(bot: Json): Json {
  const { avatar_url: picture, config, system } = bot;
  return { ...bot, thumbnail: picture ?? '', bot_type: 'webhook', bot_config: config ?? {}, system_bot: system };
}

async function theirBots(page: Json, asked: Asked): Promise<Json[]> {
  return (await restOf(page, asked)).map(theirBot);
}

function readBot(body: Json): Json {
  const { bot_config: packed = null } = body;
  const { bot_config: config } = unpack({ bot_config: packed === '' ? null : packed }, ['bot_config']);
  const ours = without(body, 'bot_type', 'bot_config');
  const given = leaveOut(ours, ['', null], ['name', 'outgoing_url', 'avatar_url']);
  return config === null ? given : { config, ...given };
}

// Chatwoot's bots may exist before their server. Bots inside the service need neither a server nor its format.
function readNewBot(body: Json): Json {
  const given = readBot(body);
  const { kind = 'webhook' } = given;
  return kind === 'webhook' ? { ...theirFormat, outgoing_url: null, ...given } : given;
}

/** Bots of the account, and those of the platform. */
export const agentBotOperations: readonly Operation[] = bases.flatMap((base): Operation[] => [
  { method: 'GET', path: base, answer: theirBots },
  { method: 'GET', path: `${base}/:id`, answer: theirBot },
  { method: 'POST', path: base, wrapper: 'agent_bot', body: readNewBot, answer: theirBot },
  { method: 'PATCH', path: `${base}/:id`, wrapper: 'agent_bot', body: readBot, answer: theirBot },
  { method: 'POST', path: `${base}/:id/reset_access_token`, answer: theirBot },
  { method: 'POST', path: `${base}/:id/reset_secret`, answer: theirBot },
]);
