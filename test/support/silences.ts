import { suspendBot } from '../../src/domain/bots/suspension.ts';
import { system, transact } from '../../src/events/transaction.ts';
import type { Bot } from './maker.ts';
import type { Tenant, World } from './world.ts';

const soon = () => Math.floor(Date.now() / 1000) + 3600;

/** A conversation that the inbox's bot serves, and actions on it. */
export interface Scene {
  id: number;
  home: Tenant;
  world: World;
  contact: number;
}

type Body = Record<string, unknown>;

/** Calls an operation on the scene's conversation, by default as administrator; it must succeed. */
function act({ home: { maker }, id }: Scene, path: string, body: Body, by?: Bot): Promise<{ id: number }> {
  return maker.call('POST', `conversations/${id}/${path}`, body, (by ?? maker.administrator).headers);
}

const say = (scene: Scene, message: Body = {}, by?: Bot) =>
  act(scene, 'messages', { content: 'Hello', message_type: 'outgoing', ...message }, by);
const to = (scene: Scene, status: string, by?: Bot) =>
  act(scene, 'toggle_status', { status, ...(status === 'snoozed' ? { snoozed_until: soon() } : {}) }, by);
const assign = (scene: Scene, assigneeId: number | null) => act(scene, 'assignments', { assignee_id: assigneeId });

async function open(world: World, fields: Body = {}): Promise<Scene> {
  const { home } = world;
  const contact = await home.maker.contact();
  const id = await home.maker.conversation(home.inbox, { contact_id: contact, ...fields });
  return { id, home, world, contact };
}

async function after(world: World, ...steps: ((scene: Scene) => Promise<unknown>)[]): Promise<Scene> {
  const scene = await open(world);
  for (const step of steps) await step(scene);
  return scene;
}

/** Suspends the bot as the engine does when its server cannot be reached. */
function fail({ world, home, id }: Scene): Promise<void> {
  const scope = { account: { id: home.maker.accountId, name: 'Account' }, actor: system };
  const end = { botId: home.bot.id, silence: 'bot_failed', note: 'The bot could not be reached' } as const;
  return transact(world.app.app.database, scope, (tx) => suspendBot(tx, id, end));
}

// One more than a bot may send in a minute.
async function loop(scene: Scene): Promise<void> {
  const { home, id, world } = scene;
  for (let said = 0; said <= 10; said += 1) {
    const message = { content: 'And again', message_type: 'outgoing' };
    const path = `/api/v1/accounts/${home.maker.accountId}/conversations/${id}/messages`;
    await world.send('bot', { method: 'POST', path, body: message });
  }
}

/** All ways in which a bot becomes silent, and the reason that is told. */
export const silences: [way: string, reason: string, make: (world: World) => Promise<Scene>][] = [
  ['a person was assigned', 'human_assigned', (world) => after(world, (scene) => assign(scene, scene.home.member.id))],
  [
    'a person was assigned from the start',
    'human_assigned',
    (world) => open(world, { assignee_id: world.home.member.id }),
  ],
  ['a person replied', 'human_replied', (world) => after(world, (scene) => say(scene))],
  ['a person began it', 'human_replied', (world) => open(world, { message: { content: 'Hello' } })],
  ['a person opened it', 'human_opened', (world) => after(world, (scene) => to(scene, 'open'))],
  [
    'a person snoozed and opened it',
    'human_opened',
    (world) =>
      after(
        world,
        (scene) => to(scene, 'snoozed'),
        (scene) => to(scene, 'open'),
      ),
  ],
  ['the bot handed off', 'handed_off', (world) => after(world, (scene) => to(scene, 'open', scene.home.bot))],
  [
    'the bot handed off and a person replied',
    'handed_off',
    (world) =>
      after(
        world,
        (scene) => to(scene, 'open', scene.home.bot),
        (scene) => say(scene),
      ),
  ],
  ['the bot talked in a loop', 'loop_suspected', (world) => after(world, loop)],
  ['the bot failed', 'bot_failed', (world) => after(world, fail)],
  [
    'the contact was blocked',
    'contact_blocked',
    (world) => after(world, ({ home, contact }) => home.maker.call('PATCH', `contacts/${contact}`, { blocked: true })),
  ],
  [
    'a person replied and resolved it',
    'human_replied',
    (world) =>
      after(
        world,
        (scene) => say(scene),
        (scene) => to(scene, 'resolved'),
      ),
  ],
  [
    'a person replied and snoozed it',
    'human_replied',
    (world) =>
      after(
        world,
        (scene) => say(scene),
        (scene) => to(scene, 'snoozed'),
      ),
  ],
];
