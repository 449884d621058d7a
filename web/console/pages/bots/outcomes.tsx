/** How runs end, in words; the names are the service's. */
const words: Readonly<Record<string, string>> = {
  ok: 'It ended well, and what it wanted done was done.',
  no_handler: 'The bot has no handler for this event, so nothing was to be done.',
  superseded: 'People took the conversation while the bot ran: what it wanted done was not done.',
  threw: 'Its handler threw an error. People got the conversation.',
  timeout: 'It computed for longer than its limit allows. People got the conversation.',
  deadline: 'The whole run took longer than its limit allows. People got the conversation.',
  never_settled: 'It waits for something that cannot happen. People got the conversation.',
  forbidden_action: 'It did or asked something for which its plugin has no permission. People got the conversation.',
  invalid_actions: 'An action does not fit its schema. People got the conversation.',
  too_many_calls: 'It asked the service more often than is allowed. People got the conversation.',
  too_many_actions: 'It wanted more done than is allowed. People got the conversation.',
  output_too_large: 'What it wanted done is larger than is allowed. People got the conversation.',
  memory: 'It took more memory than is allowed. People got the conversation.',
  rss_limit: 'Its process took more memory than is allowed. People got the conversation.',
  unresponsive: 'Its code could not be stopped, so its process was. People got the conversation.',
  load_failed: 'Its code could not be loaded. People got the conversation.',
  crashed: 'Its process died. It is tried again before people get the conversation.',
  unavailable: 'The machine was too busy to run the bot. It is tried again before agents get the conversation.',
  queue_full: 'Too many runs were waiting, so the bot was not called. It is tried again.',
  waiting_full: 'Waiting runs held too much memory, so this one ended. Handed off to an agent.',
  loop_suspected: 'It seemed to talk in a loop, and was stopped. People got the conversation.',
  storage_full: 'Its storage is full. People got the conversation.',
  too_many_schedules: 'Too many calls of it wait to be made. People got the conversation.',
};
const good = new Set(['ok', 'no_handler']);

/** The outcomes that a list can be filtered by. */
export const outcomeChoices = Object.keys(words).map((name) => [name, name.replaceAll('_', ' ')] as const);

/** What an outcome means. */
export function wordsOf(outcome: string): string {
  return words[outcome] ?? 'The service refused what it wanted done. People got the conversation.';
}

/** An outcome, at a glance. */
export function Outcome({ name }: { name: string }) {
  const kind = good.has(name) ? 'good' : name === 'superseded' ? 'wait' : 'bad';
  return <span class={`badge ${kind}`}>{name.replaceAll('_', ' ')}</span>;
}
