import type { World } from './world.ts';

/** Actions on a conversation in the bot's inbox, in order. */
export interface Stage {
  id: number;
  to: (status: string, by?: 'administrator' | 'bot') => Promise<unknown>;
  assign: (to: 'member' | 'nobody') => Promise<unknown>;
  say: (by: 'administrator' | 'bot', message?: object) => Promise<unknown>;
  block: (blocked: boolean) => Promise<unknown>;
  override: (by: 'idle' | 'nobody') => Promise<unknown>;
}

/** Creates a pending conversation of the bot. */
export async function setStage({ home }: World): Promise<Stage> {
  const { maker, inbox, bot, idle, member } = home;
  const contact = await maker.contact();
  const id = await maker.conversation(inbox, { contact_id: contact });
  const post = (path: string, body: object, by = 'administrator') =>
    maker.call('POST', `conversations/${id}/${path}`, body, by === 'bot' ? bot.headers : maker.administrator.headers);
  return {
    id,
    to: (status, by) => post('toggle_status', { status }, by),
    assign: (to) => post('assignments', { assignee_id: to === 'member' ? member.id : null }),
    say: (by, message = {}) => post('messages', { content: 'Hello', message_type: 'outgoing', ...message }, by),
    block: (blocked) => maker.call('PATCH', `contacts/${contact}`, { blocked }),
    override: (by) => post('agent_bot', { agent_bot_id: by === 'idle' ? idle.id : null }),
  };
}

/** Why the bot is silent after the actions; null when it is not. */
export const audiences: [done: string, perform: (stage: Stage) => Promise<unknown>, silence: string | null][] = [
  ['nothing', async () => undefined, null],
  ['the bot spoke', ({ say }) => say('bot'), null],
  ['the bot wrote a note', ({ say }) => say('bot', { private: true }), null],
  ['a person wrote a note', ({ say }) => say('administrator', { private: true }), null],
  ['a person was assigned', ({ assign }) => assign('member'), 'human_assigned'],
  [
    'a person was assigned and unassigned',
    async ({ assign }) => {
      await assign('member');
      await assign('nobody');
    },
    null,
  ],
  ['a person replied', ({ say }) => say('administrator'), 'human_replied'],
  [
    'a person replied, was assigned and unassigned',
    async ({ say, assign }) => {
      await say('administrator');
      await assign('member');
      await assign('nobody');
    },
    null,
  ],
  ['a person opened it', ({ to }) => to('open'), 'human_opened'],
  ['the bot handed off', ({ to }) => to('open', 'bot'), 'handed_off'],
  [
    'the bot handed off, and a person was assigned and unassigned',
    async ({ to, assign }) => {
      await to('open', 'bot');
      await assign('member');
      await assign('nobody');
    },
    'handed_off',
  ],
  [
    'a person replied and set it to pending',
    async ({ say, to }) => {
      await say('administrator');
      await to('open');
      await to('pending');
    },
    null,
  ],
  [
    'the bot handed off, and a person set it to pending',
    async ({ to }) => {
      await to('open', 'bot');
      await to('pending');
    },
    null,
  ],
  [
    'a person is assigned and set it to pending',
    async ({ assign, to }) => {
      await assign('member');
      await to('open');
      await to('pending');
    },
    'human_assigned',
  ],
  [
    'the bot handed off, and the conversation was resolved and reopened',
    async ({ to }) => {
      await to('open', 'bot');
      await to('resolved');
      await to('open');
    },
    null,
  ],
  ['the contact was blocked', ({ block }) => block(true), 'contact_blocked'],
  [
    'the contact was blocked and unblocked',
    async ({ block }) => {
      await block(true);
      await block(false);
    },
    null,
  ],
  [
    'another bot served it for a while',
    async ({ override }) => {
      await override('idle');
      await override('nobody');
    },
    null,
  ],
];
