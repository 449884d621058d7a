import type { Automation } from '../bots/bot-list.ts';

/** Whether an automation can run, at a glance. */
export function AutomationHealth({ health: { state } }: Pick<Automation, 'health'>) {
  return state === 'ok' ? <span class="badge good">Healthy</span> : <span class="badge bad">Failing</span>;
}
