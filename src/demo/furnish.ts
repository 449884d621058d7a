import type { Shape } from '../schemas.ts';
import { createBot } from '../domain/bots/create.ts';
import { createArticle } from '../domain/articles/articles.ts';
import { createContact } from '../domain/contacts/contacts.ts';
import { createInbox } from '../domain/inboxes/inboxes.ts';
import { changeInboxMembers } from '../domain/inboxes/members.ts';
import { createLabel } from '../domain/labels/catalogue.ts';
import { changeTeamMembers, createTeam } from '../domain/people/teams.ts';
import { addAgent, createUser } from '../domain/people/users.ts';
import { findRunnable } from '../domain/plugins/rows.ts';
import { createWebhook } from '../domain/webhooks.ts';
import type { Transaction } from '../events/transaction.ts';
import type { Random } from '../lib/ports.ts';
import { newWebhookSecret, type SecretBox } from '../lib/secrets/secret-box.ts';
import type { Sql } from '../postgres/sql.ts';
import { shopArticles } from './articles.ts';

/** Dependencies of furnishing besides its transaction. */
export interface DemoTools {
  random: Random;
  secretBox: SecretBox;
  /** The URL of the built-in receiver. */
  receiverUrl: string;
}

/** The inboxes of the demonstration data, by which `npm run demo` finds them. */
export const demoInboxes = { faq: 'Demo inbox', ai: 'Shop chat' } as const;

/** The identifier of the demonstration's inbox for web pages; null once somebody has renamed or deleted it. */
export async function findDemoChat(sql: Sql): Promise<string | null> {
  const [inbox] = await sql<{ identifier: string }>(
    `SELECT identifier FROM inboxes WHERE account_id = 1 AND channel_type = 'Channel::WebWidget' AND name = $1
     ORDER BY id LIMIT 1`,
    [demoInboxes.ai],
  );
  return inbox?.identifier ?? null;
}

const people = ['human', 'agent', 'person', 'real person', 'colleague', 'somebody'];

const bots = {
  faq: { kind: 'plugin', plugin_id: 'faq', name: 'Frequently asked questions' },
  ai: {
    kind: 'ai',
    name: 'Shop assistant',
    description: 'Answers from the articles of the knowledge base, with its source.',
    system_prompt: 'You are the assistant of a small shop for lamps and furniture. Be friendly and brief.',
    handoff_keywords: people,
    handoff_message: 'Of course! I am getting a colleague for you; somebody will be with you shortly.',
  },
} as const satisfies Record<string, Shape<'requests/agent-bot.create'>>;

const contacts = [
  { name: 'Mia Novak', email: 'mia@example.com', phoneNumber: '+4915112345601', customAttributes: { plan: 'plus' } },
  { name: 'Jonas Berg', email: 'jonas@example.com', phoneNumber: null, customAttributes: { orders: 7 } },
  { name: 'Priya Shah', email: 'priya@example.com', phoneNumber: '+442079460123', customAttributes: {} },
];

const labels = [
  { title: 'faq', description: 'Answered by the bot of frequently asked questions', color: '#1f93ff' },
  { title: 'delivery', description: 'Parcels, delays, addresses', color: '#f59e0b' },
  { title: 'returns', description: 'Returns, exchange, refunds', color: '#8b5cf6' },
  { title: 'complaint', description: 'Somebody is unhappy', color: '#dc2626' },
];

/** All events of the demo account; a webhook that its receiver has switched off gets no more. */
const subscriptions = [
  'conversation_created',
  'conversation_updated',
  'conversation_status_changed',
  'conversation_deleted',
  'message_created',
  'message_updated',
  'message_deleted',
  'contact_created',
  'contact_updated',
  'contact_deleted',
  'webwidget_triggered',
];

/**
 * Furnishes a new account with the demonstration data: inboxes with their bots, contacts, a knowledge base, labels, a team
 * with a second agent, and a webhook to the built-in receiver. `administratorId` is the administrator's seat. Says
 * contact_created.
 */
export async function furnishDemo(tx: Transaction, administratorId: number, tools: DemoTools): Promise<void> {
  // First, so that the receiver hears of everything that follows.
  await furnishWebhook(tx, tools);
  const inboxes = [
    await furnishInbox(tx, { name: demoInboxes.faq, channelType: 'Channel::Api', bot: bots.faq }, tools),
    await furnishInbox(tx, { name: demoInboxes.ai, channelType: 'Channel::WebWidget', bot: bots.ai }, tools),
  ];
  for (const article of shopArticles) await createArticle(tx, article);
  for (const label of labels) await createLabel(tx, { ...label, showOnSidebar: true });
  await furnishTeam(tx, { administratorId, inboxes });
  const plain = { identifier: null, blocked: false, avatarUrl: null, additionalAttributes: {} };
  for (const contact of contacts) await createContact(tx, { ...contact, ...plain });
}

async function furnishWebhook(tx: Transaction, { random, secretBox, receiverUrl: url }: DemoTools): Promise<void> {
  const sealedSecret = secretBox.seal(newWebhookSecret(random));
  await createWebhook(tx, { url, name: 'Built-in receiver', subscriptions, inboxId: null, active: true, sealedSecret });
}

interface DemoInbox {
  name: string;
  channelType: string;
  bot: (typeof bots)[keyof typeof bots];
}

// An operator's PLUGIN_DIRS may lack the plugin: then people answer.
async function furnishInbox(tx: Transaction, { bot, ...inbox }: DemoInbox, tools: DemoTools): Promise<number> {
  const plugin = await findRunnable(tx.sql, bot.kind === 'ai' ? 'ai-bot' : bot.plugin_id);
  const made = plugin ? await createBot({ services: tools, tx }, { ...bot }) : null;
  const agentBotId = made?.bot.id ?? null;
  const identifier = tools.random.uuid();
  const { id } = await createInbox(tx.sql, { accountId: tx.account.id, ...inbox, identifier, agentBotId, now: tx.now });
  return id;
}

async function furnishTeam(
  tx: Transaction,
  { administratorId, inboxes }: { administratorId: number; inboxes: readonly number[] },
): Promise<void> {
  const { sql, now, account } = tx;
  const agent = { name: 'Robin Keller', email: 'robin@example.com', confirmed: true, platformAdmin: false };
  const user = await createUser(sql, agent, now);
  const { userId } = await addAgent(sql, { accountId: account.id, userId: user.id, role: 'agent', now });
  const team = await createTeam(tx, { name: 'Support', description: 'Answers customers', allowAutoAssign: true });
  await changeTeamMembers(tx, team.id, { userIds: [administratorId, userId], change: 'add' });
  const member = { userIds: [userId], change: 'add' } as const;
  for (const inboxId of inboxes) await changeInboxMembers((work) => work(tx), inboxId, member);
}
