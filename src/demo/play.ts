import { OperatorError } from '../lib/operator-error.ts';
import type { CallService } from '../lib/service-client.ts';
import type { Shape } from '../schemas.ts';
import { systemClock } from '../lib/ports.ts';
import { unixSeconds } from '../lib/unix-time.ts';
import { say, Stage, type Conversation, type Message } from './stage.ts';

type Explanation = Shape<'resources/conversation-agent-bot'>;

const snoozeSeconds = 2;
const subscriptions = ['message_created', 'conversation_status_changed'];

/**
 * Plays customers, bots, a person and a failing webhook on the running service, prints each step, and removes what it made.
 * Throws OperatorError when something is missing.
 */
export async function demo(call: CallService): Promise<void> {
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  // Stops when the reader of the output, such as `head`, has closed it.
  process.stdout.once('error', stop);
  const stage = await Stage.open(call, interrupt.signal);
  try {
    await play(stage);
  } catch (error) {
    if (interrupt.signal.aborted) throw new OperatorError('\nThe demo was stopped; what it made is removed.');
    throw error;
  } finally {
    await stage.clear();
  }
  const posts = [...stage.posts.values()];
  const valid = posts.filter(({ verified }) => verified).length;
  say(
    `\nDone: ${posts.length} posts received, ${valid} of them with a valid signature. What the demo made is removed.`,
  );
}

async function play(stage: Stage): Promise<void> {
  say('1. A webhook is registered');
  say(`   ${await stage.openHook(subscriptions)} will hear ${subscriptions.join(' and ')}`);
  await stage.setMode('ok');
  await playKnowledge(stage);
  await stage.settle();
  const led = await playTakeover(stage);
  await stage.settle();
  await playOverride(stage);
  await stage.settle();
  await playSnooze(stage, led);
  await stage.settle();
  await playFailure(stage, led);
}

async function playKnowledge(stage: Stage): Promise<void> {
  say('\n2. A customer asks the AI bot, which answers from the knowledge base with its source');
  const conversation = await stage.begin('ai');
  tellServed(conversation);
  tellAnswer(await stage.answerTo(await stage.write(conversation, 'How much is express delivery?')));
  say('\n3. The customer asks for a person, and the bot hands over');
  tellAnswer(await stage.answerTo(await stage.write(conversation, 'Can I talk to a person, please?')));
  const { status, handoff_reason: reason } = await stage.until('the handoff', async () => {
    const now = await stage.read(conversation);
    return now.handoff_reason === null ? undefined : now;
  });
  say(`   The conversation is ${status} for people (handoff_reason: ${reason}), with a note of what was asked.`);
}

async function playTakeover(stage: Stage): Promise<Conversation> {
  say('\n4. A person takes over, and the bot is silent from then on');
  const conversation = await stage.begin('faq');
  tellServed(conversation);
  tellAnswer(await stage.answerTo(await stage.write(conversation, 'What are your opening hours?')));
  const path = stage.pathOf(conversation);
  await stage.call('POST', `${path}/assignments`, { assignee_id: stage.me });
  say('   person    → takes the conversation over');
  await stage.write(conversation, 'And how long does delivery take?');
  const { answers, reason, history } = await stage.call<Explanation>('GET', `${path}/agent_bot`);
  const [latest] = history;
  if (answers || latest?.called) throw new OperatorError('The bot did not fall silent.');
  say(`   bot         is silent: ${reason}`);
  return conversation;
}

async function playOverride(stage: Stage): Promise<void> {
  say("\n5. One conversation gets another bot than its inbox's");
  const { call, account, inboxes } = stage;
  const conversation = await stage.begin('ai');
  const { agent_bot: bot } = await call<Shape<'resources/inbox-agent-bot'>>(
    'GET',
    `${account}/inboxes/${inboxes.faq}/agent_bot`,
  );
  const chosen = await call<Explanation>('POST', `${stage.pathOf(conversation)}/agent_bot`, {
    agent_bot_id: bot?.id ?? null,
  });
  say(
    `   conversation ${conversation.id} is now served by "${chosen.agent_bot?.name}", chosen by the ${chosen.chosen_by}`,
  );
  tellAnswer(await stage.answerTo(await stage.write(conversation, 'Can I pay by card?')));
}

async function playSnooze(stage: Stage, conversation: Conversation): Promise<void> {
  say(`\n6. The person snoozes the conversation for ${snoozeSeconds} s`);
  const { updated_at: now } = await stage.read(conversation);
  const snoozedUntil = Math.max(now, unixSeconds(systemClock.now())) + snoozeSeconds;
  await stage.call('POST', `${stage.pathOf(conversation)}/toggle_status`, {
    status: 'snoozed',
    snoozed_until: snoozedUntil,
  });
  await stage.until('the end of the snooze', async () => (await stage.read(conversation)).status === 'open');
  say('   The conversation is open again.');
}

async function playFailure(stage: Stage, conversation: Conversation): Promise<void> {
  say('\n7. The receiver fails, and the post comes again after 5 s; the next ones of this conversation wait');
  await stage.setMode('fail');
  const seen = stage.posts.size;
  await stage.write(conversation, 'Is anybody there?');
  await stage.write(conversation, 'Hello?');
  const failed = await stage.until('the failing post', () => [...stage.posts.values()][seen]);
  await stage.setMode('ok');
  say('   The receiver is well again.');
  const isAgain = ({ webhook_id: id, status }: { webhook_id: string | null; status: number | null }): boolean =>
    id === failed.webhook_id && status === 200;
  await stage.until('the second attempt', () => [...stage.posts.values()].some(isAgain));
  await stage.until('the next post', () => stage.posts.size >= seen + 3);
}

function tellServed({ id, status, meta }: Conversation): void {
  say(`   conversation ${id}: ${status}, served by the bot "${meta.agent_bot?.name ?? 'nobody'}"`);
}

function tellAnswer({ content, sender }: Message): void {
  const [first = '', ...more] = (content ?? '').split('\n').filter((line) => line !== '');
  say(`   bot       → "${[first, ...more].join(`\n${' '.repeat(15)}`)}" (${sender?.name})`);
}
