import type { Decision, Run, Serving, TracedEvent } from './trace.ts';

/** Why a bot does not answer, in words for people. */
const reasons: Readonly<Record<string, string>> = {
  no_bot: 'no bot is assigned',
  human_assigned: 'an agent is assigned',
  contact_blocked: 'the contact is blocked',
  handed_off: 'handed off to an agent',
  human_replied: 'an agent replied',
  human_opened: 'an agent opened the conversation',
  loop_suspected: 'stopped after too many messages without a reply',
  bot_failed: 'the bot failed, handed off to an agent',
  plugin_missing: 'its plugin is not installed',
  plugin_disabled: 'its plugin is disabled',
  config_invalid: 'its settings are invalid',
  bot_quarantined: 'quarantined after repeated failures',
  bot_disabled: 'disabled',
  event_not_wanted: 'not subscribed to this event',
  own_message: 'its own message',
  private_note: 'private note',
  causation_depth: 'too many events caused by other bots',
  endpoint_gone: 'deleted',
  superseded: 'an agent took over during the run',
};

/** Sentence about the bot that answers the next message. */
export function servingInWords({ agent_bot: bot, chosen_by: chosenBy, answers, reason }: Serving): string {
  if (!bot) return 'No bot: agents answer.';
  if (!answers) return `${bot.name} is paused: ${reasonInWords(reason ?? '')}.`;
  return `${bot.name} answers (bot of the ${chosenBy === 'conversation' ? 'conversation' : 'inbox'}).`;
}

/** Whether a bot was called for an event, by what it was chosen, and why it was silent. */
export function decisionInWords({ agent_bot: bot, chosen_by: chosenBy, called, reason }: Decision): string {
  const name = bot?.name ?? 'Deleted bot';
  if (reason === null || reason === 'waiting') {
    return `${name} ${called ? 'called' : 'waiting'} (bot of the ${chosenBy ?? 'inbox'}).`;
  }
  return called ? `${name} called: ${reasonInWords(reason)}.` : `${name} not called: ${reasonInWords(reason)}.`;
}

const briefChars = 300;

/** Any value in one line, cut where it is long. */
export function brief(value: unknown): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value)) ?? '';
  return text.length > briefChars ? `${text.slice(0, briefChars)}…` : text;
}

/** An action in one line. */
export function actionInWords({ type, ...rest }: Run['actions'][number]): string {
  const said = Object.values(rest).filter((value) => value !== null && !(Array.isArray(value) && value.length === 0));
  const values = said.map(brief).join(', ');
  return values === '' ? String(type) : `${String(type)}: ${values}`;
}

/** An event in one line. */
export function eventInWords({ event, payload }: TracedEvent): string {
  const { content, message_type: type, private: isPrivate, status } = (payload ?? {}) as Record<string, unknown>;
  const name = event.replaceAll('_', ' ');
  if (typeof content === 'string') return `${name}, ${isPrivate === true ? 'private note' : String(type)}: ${content}`;
  return event === 'conversation_status_changed' ? `${name}: ${String(status)}` : name;
}

function reasonInWords(reason: string): string {
  return reasons[reason] ?? reason.replaceAll('_', ' ');
}
