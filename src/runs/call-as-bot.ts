import { busy } from '../errors.ts';
import type { Clock } from '../lib/ports.ts';
import type { BotToRun } from '../records/bots/bot-to-run.ts';
import { ForbiddenCall, type Permissions } from '../sandbox/run.ts';
import type { Shape } from '../schemas.ts';
import { ChatDoor, type ModelPorts } from './doors/chat.ts';
import { DoorError } from './doors/errors.ts';
import { searchDoor, type KnowledgePorts } from './doors/search.ts';
import { findFitting } from './fitting-plugin.ts';
import type { InstalledPlugins } from './installed-plugins.ts';
import type { TokenUsage } from './usage.ts';

/** A call of a bot in no run. */
interface BotCall extends Pick<Shape<'requests/bot.call'>, 'name' | 'input'> {
  accountId: number;
  bot: BotToRun;
}

/** Answer to a call as the bot would get it, and the tokens that it took. */
interface AnsweredCall extends Pick<Shape<'resources/bot-call'>, 'output' | 'error'> {
  tokens: TokenUsage;
}

/** Answers a call as the bot's running version would get it. Errors: 503 while too many are under way. */
export type CallAsBot = (call: BotCall) => Promise<AnsweredCall>;

interface Ports {
  plugins: Pick<InstalledPlugins, 'find' | 'refresh'>;
  models: ModelPorts;
  knowledge: KnowledgePorts;
  clock: Clock;
}

/** Calls under way at once, each of which may wait for a model. */
const maxUnderWay = 20;
const noTokens = { promptTokens: 0, completionTokens: 0 };

/** Creates the function that asks models and the knowledge base as a bot. */
export function createBotCalls(ports: Ports): CallAsBot {
  let underWay = 0;
  return async (call) => {
    if (underWay >= maxUnderWay) throw busy();
    underWay += 1;
    try {
      return await answer(ports, call);
    } finally {
      underWay -= 1;
    }
  };
}

async function answer({ plugins, models, knowledge, clock }: Ports, call: BotCall): Promise<AnsweredCall> {
  const { accountId, bot, name, input } = call;
  const { id: botId, tokensPerDay = null, isSystem: isSystemBot = false } = bot;
  const door = new ChatDoor({ owner: { accountId, botId }, now: clock.now(), isSystemBot, tokensPerDay }, models);
  try {
    const { pack } = await findFitting(plugins, bot);
    checkPermission(pack?.manifest.permissions, name === 'llm.chat' ? 'llm' : 'kb');
    const output =
      name === 'llm.chat'
        ? { ...(await door.chat(input, new AbortController().signal)) }
        : (await searchDoor(input, { accountId, noted: () => undefined }, knowledge)).map((passage) => ({
            ...passage,
          }));
    return { output, error: null, tokens: door.tokens };
  } catch (error) {
    if (error instanceof ForbiddenCall) return refusalOf('forbidden', error);
    if (!(error instanceof DoorError)) throw error;
    return refusalOf(error.code, error);
  }
}

function refusalOf(code: string, { message }: Error): AnsweredCall {
  return { output: null, error: { code, message }, tokens: noTokens };
}

function checkPermission(permissions: Permissions | undefined, name: 'llm' | 'kb'): void {
  if (!permissions) throw new ForbiddenCall('The plugin of the bot does not run');
  if (!permissions[name]) throw new ForbiddenCall(`The running version does not ask for \`permissions.${name}\``);
}
