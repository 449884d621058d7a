import type { Run } from './run-table.tsx';

/** The bot, the automation or the channel inbox that ran, with its page. */
export interface Runner {
  title: 'Bot' | 'Automation' | 'Inbox';
  id: number;
  path: string;
}

/** Returns the owner of a run. */
export function runnerOf({ agent_bot_id: bot, automation_id: automation, inbox_id: inbox }: Run): Runner {
  if (automation !== null) return { title: 'Automation', id: automation, path: `/console/automations/${automation}` };
  if (inbox !== null) return { title: 'Inbox', id: inbox, path: `/console/settings/inboxes/${inbox}` };
  return { title: 'Bot', id: Number(bot), path: `/console/bots/${bot}` };
}
