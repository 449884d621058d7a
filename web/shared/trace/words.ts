import type { Decision, Run, Serving, TracedEvent } from './trace.ts';

/** Why a bot does not answer, in words for people. */
const reasons: Readonly<Record<string, string>> = {
  no_bot: 'no bot serves this conversation',
  human_assigned: 'a person is assigned',
  contact_blocked: 'the contact is blocked',
  handed_off: 'the bot has handed the conversation to people',
  human_replied: 'a person has replied',
  human_opened: 'a person has taken the conversation',
  loop_suspected: 'it was stopped because it wrote too much without an answer',
  bot_failed: 'the bot failed, so that people have the conversation',
  plugin_missing: "the bot's plugin is not installed",
  plugin_disabled: "the bot's plugin is disabled",
  config_invalid: "the bot's settings do not fit its plugin",
  bot_quarantined: 'the bot is in quarantine after repeated failures',
  bot_disabled: 'the bot is switched off',
  event_not_wanted: 'the bot does not listen to this',
  own_message: 'it is a message of the bot itself',
  private_note: 'it is a private note',
  causation_depth: 'bots have caused this of each other, too often',
  endpoint_gone: 'it is deleted',
  superseded: 'people took the conversation while it thought',
};

/** Who answers the next message, and why. */
export function servingInWords({ agent_bot: bot, chosen_by: chosenBy, answers, reason }: Serving): string {
  if (!bot) return 'People answer: no bot serves this conversation.';
  if (!answers) return `${bot.name} is silent: ${reasonInWords(reason ?? '')}.`;
  return `${bot.name} answers: it is the bot of this ${chosenBy === 'conversation' ? 'conversation' : 'inbox'}.`;
}

/** Whether a bot was called for an event, by what it was chosen, and why it was silent. */
export function decisionInWords({ agent_bot: bot, chosen_by: chosenBy, called, reason }: Decision): string {
  const name = bot?.name ?? 'A bot that is deleted';
  if (reason === null || reason === 'waiting') {
    return `${name} is ${called ? '' : 'about to be '}called: it is the bot of the ${chosenBy ?? 'inbox'}.`;
  }
  return called
    ? `${name} was called, and ended: ${reasonInWords(reason)}.`
    : `${name} is silent: ${reasonInWords(reason)}.`;
}

const briefChars = 300;

/** Any value in one line, cut where it is long. */
export function brief(value: unknown): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value)) ?? '';
  return text.length > briefChars ? `${text.slice(0, briefChars)}…` : text;
}

/** What a bot wanted to do, in one line. */
export function actionInWords({ type, ...rest }: Run['actions'][number]): string {
  const said = Object.values(rest).filter((value) => value !== null && !(Array.isArray(value) && value.length === 0));
  const values = said.map(brief).join(', ');
  return values === '' ? String(type) : `${String(type)}: ${values}`;
}

/** What an event says, in one line. */
export function eventInWords({ event, payload }: TracedEvent): string {
  const { content, message_type: type, private: isPrivate, status } = (payload ?? {}) as Record<string, unknown>;
  const name = event.replaceAll('_', ' ');
  if (typeof content === 'string') return `${name}, ${isPrivate === true ? 'private note' : String(type)}: ${content}`;
  return event === 'conversation_status_changed' ? `${name}: now ${String(status)}` : name;
}

function reasonInWords(reason: string): string {
  return reasons[reason] ?? reason.replaceAll('_', ' ');
}
