/** How runs end, in words; the names are the service's. */
const words: Readonly<Record<string, string>> = {
  ok: 'Completed.',
  no_handler: 'The bot has no handler for this event.',
  superseded: 'An agent took over during the run. Its actions were not applied.',
  threw: 'The handler threw an error. Handed off to an agent.',
  timeout: 'CPU limit exceeded. Handed off to an agent.',
  deadline: 'Run time limit exceeded. Handed off to an agent.',
  never_settled: 'The handler never finished. Handed off to an agent.',
  forbidden_action: 'Permission denied. Handed off to an agent.',
  invalid_actions: 'Invalid action. Handed off to an agent.',
  too_many_calls: 'Too many calls. Handed off to an agent.',
  too_many_actions: 'Too many actions. Handed off to an agent.',
  output_too_large: 'Actions too large. Handed off to an agent.',
  memory: 'Memory limit exceeded. Handed off to an agent.',
  rss_limit: 'Process memory limit exceeded. Handed off to an agent.',
  unresponsive: 'The code did not stop, so its process was killed. Handed off to an agent.',
  load_failed: 'The code failed to load. Handed off to an agent.',
  crashed: 'The process crashed. Retried before a handoff.',
  unavailable: 'The machine was overloaded. Retried before a handoff.',
  queue_full: 'Queue full. Retried.',
  waiting_full: 'Too much memory held by waiting runs. Handed off to an agent.',
  loop_suspected: 'Possible loop. Handed off to an agent.',
  attachment_failed: 'A file of a reply could not be sent. Handed off to an agent.',
  attachment_unavailable: 'The host of a file did not answer. Retried before a handoff.',
  storage_full: 'Storage full. Handed off to an agent.',
  storage_failed: 'A stored number grew too large. Handed off to an agent.',
  bot_suppressed: 'The bot acted after silencing itself. Handed off to an agent.',
  validation_failed: 'An action was refused. Handed off to an agent.',
  not_found: 'An action names something that does not exist. Handed off to an agent.',
  plugin_disabled: 'The plugin was disabled during the run. Handed off to an agent.',
  too_many_schedules: 'Too many scheduled calls. Handed off to an agent.',
};
const good = new Set(['ok', 'no_handler']);

/** The outcomes that a list can be filtered by. */
export const outcomeChoices = Object.keys(words).map((name) => [name, name.replaceAll('_', ' ')] as const);

/** Explanation of an outcome. */
export function wordsOf(outcome: string): string {
  return words[outcome] ?? 'Action refused. Handed off to an agent.';
}

/** An outcome, at a glance. */
export function Outcome({ name }: { name: string }) {
  const kind = good.has(name) ? 'good' : name === 'superseded' ? 'wait' : 'bad';
  return <span class={`badge ${kind}`}>{name.replaceAll('_', ' ')}</span>;
}
