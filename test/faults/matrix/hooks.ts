import { mkdirSync } from 'node:fs';
import { writePackage } from '../../support/packages.ts';
import { byStandard } from '../../support/hook-senders.ts';
import type { Fault } from './fault.ts';
import { HookSender, type Target } from './hook-sender.ts';
import { ok } from './manners.ts';
import { until } from './patience.ts';
import { withKillsAtSteps } from './steps.ts';
import type { Trial } from './trial.ts';

const shops = 6;
/** Requests from one that somebody else signs to the next. */
const forgeEvery = 100;
const perMinute = 200;
/** Below the rate of a token. */
const pauseMs = 350;

const code = `export default { on: { async hook_received(ctx) {
  const { person, text } = ctx.hook.json;
  if (ctx.hook.name === 'flood') return;
  const contact = await ctx.contacts.findOrCreate({ identifier: person });
  const { id } = await ctx.conversations.open({ contact_id: contact.id, inbox_id: ctx.config.inbox });
  ctx.note(text, { conversation_id: id });
} } };`;

const secret = `whsec_${Buffer.from('the key of a shop that sends').toString('base64')}`;

function writePlugin({ services }: Trial): void {
  const hook = { verify: 'standard-webhooks', secret: 'SHOP' };
  const manifest = {
    id: 'shop',
    events: ['message_created'],
    hooks: { orders: { ...hook, key: '/sender' }, flood: hook },
    config: { type: 'object', properties: { inbox: { type: 'integer' } } },
    permissions: { hooks: true, contacts: 'write', conversations: 'write', conversation: ['note'] },
  };
  const folder = services.file('shop');
  mkdirSync(folder, { recursive: true });
  writePackage(folder, manifest, code);
}

/** Creates a bot of an account with a hook for each name; returns where they lead. */
async function makeHooks({ client }: Trial, account: number, handlers: readonly string[]): Promise<Target[]> {
  const base = `/api/v1/accounts/${account}`;
  const bot = await client.need('POST', `${base}/agent_bots`, {
    name: 'Shop',
    kind: 'plugin',
    plugin_id: 'shop',
    secrets: { SHOP: secret },
  });
  const inbox = await client.need('POST', `${base}/inboxes`, { name: 'Shop', channel: { type: 'api' } });
  await client.need('POST', `${base}/inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id });
  await client.need('PATCH', `${base}/agent_bots/${bot.id}`, { config: { inbox: inbox.id } });
  const targets: Target[] = [];
  for (const handler of handlers) {
    const { url } = await client.need('POST', `${base}/hooks`, { name: handler, agent_bot_id: bot.id, handler });
    targets.push({ path: new URL(url as string).pathname, secret });
  }
  return targets;
}

async function addAccount({ client }: Trial): Promise<number> {
  const { id } = await client.need('POST', '/platform/api/v1/accounts', { name: 'Flooded' });
  await client.need('POST', `/platform/api/v1/accounts/${id}/account_users`, { user_id: 1, role: 'administrator' });
  return id as number;
}

/** Sends more requests to a token than it takes, while others send to theirs; returns the answers by status. */
async function flood({ services }: Trial, { path }: Target): Promise<Map<number, number>> {
  const answers = new Map<number, number>();
  const url = `${await services.url()}${path}`;
  let sent = 0;
  const sender = async (): Promise<void> => {
    while (sent < perMinute * 2) {
      const body = JSON.stringify({ flood: (sent += 1) });
      const response = await fetch(url, { method: 'POST', headers: byStandard(body, secret, `f${sent}`), body });
      await response.text();
      answers.set(response.status, (answers.get(response.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 16 }, sender));
  return answers;
}

/** Every request that was acknowledged was handled once, in order, or is said to have failed; none was that somebody else signed. */
async function judge(trial: Trial, senders: readonly HookSender[]): Promise<void> {
  const written = await trial.rows<{ content: string }>(
    `SELECT content FROM messages WHERE sender_kind = 'agent_bot' AND account_id = 1 ORDER BY id`,
  );
  const byText = Map.groupBy(written, ({ content }) => content);
  const twice = [...byText].filter(([, rows]) => rows.length > 1).map(([text]) => text);
  trial.check(twice.length === 0, `written more than once: ${twice.join(', ')}`);
  let failed = 0;
  for (const sender of senders) {
    const unwritten = sender.writes.filter(({ key }) => !byText.has(key));
    for (const { key, requestId } of unwritten) {
      const [request] = await trial.rows<{ state: string }>(
        `SELECT d.state FROM hook_requests r JOIN deliveries d ON d.account_id = r.account_id AND d.event_id = r.event_id WHERE r.id = $1`,
        [requestId],
      );
      trial.check(request?.state === 'exhausted', `"${key}" was neither handled nor is it said to have failed`);
    }
    failed += unwritten.length;
    sender.writes = sender.writes.filter(({ key }) => byText.has(key));
    const own = written.filter(({ content }) => content.startsWith(`${sender.name} `));
    const numbers = own.map(({ content }) => Number(content.split(' ').at(-1)));
    trial.check(
      numbers.every((number, index) => number > (numbers[index - 1] ?? 0)),
      `the requests of ${sender.name} were handled in the order ${numbers.join(' ')}`,
    );
    trial.check(
      sender.forged.every((status) => status === 401),
      `forged requests were answered ${sender.forged.join(' ')}`,
    );
  }
  const killed = trial.services.disturbances.length;
  trial.check(failed <= killed, `${failed} requests are said to have failed, after ${killed} kills`);
  const forged = senders.reduce((sum, sender) => sum + sender.forged.length, 0);
  trial.check(forged > 0, 'no request was forged');
}

/** Hooks that other systems send, with everything that can become of them. */
export const hooks: Fault = {
  id: 'F23',
  what: 'hooks: kill -9 at each step (stored, run begun, acted, finished), 1 % forged signatures, a flood of one token beside another account',
  env: { HOOKS_PER_MINUTE: String(perMinute) },
  run: (trial) => {
    writePlugin(trial);
    return withKillsAtSteps(trial, (killAtSteps) => sendAndKill(trial, killAtSteps));
  },
};

async function sendAndKill(trial: Trial, killAtSteps: (kills: number) => Promise<void>): Promise<void> {
  const { services, scale } = trial;
  await trial.receiver('receiver', () => ok);
  const targets = await makeHooks(trial, 1, Array<string>(shops).fill('orders'));
  const [noise] = await makeHooks(trial, await addAccount(trial), ['flood']);
  const senders = targets.map((target, index) => new HookSender(services, `shop ${index}`, target));
  for (const sender of senders) trial.follow(sender);
  const ends = senders.map((sender) => sender.keepSending({ pauseMs, forgeEvery: scale.pick(10, forgeEvery) }));
  const answers = noise ? await flood(trial, noise) : new Map<number, number>();
  trial.check(
    (answers.get(202) ?? 0) >= perMinute && (answers.get(429) ?? 0) > 0 && answers.size === 2,
    `the flood was answered ${JSON.stringify([...answers])}`,
  );
  const refused = senders.flatMap((sender) => [...sender.refused.keys()]);
  trial.check(refused.length === 0, `beside a flood, requests of another account were answered ${refused.join(' ')}`);
  await killAtSteps(scale.kills(4));
  await Promise.all(ends.map((end) => end()));
  await until('a process', () => services.web?.isRunning === true);
  await trial.settle();
  await judge(trial, senders);
}
