import { TabLinks } from '../../kit/tab-links.tsx';
import { isAdministrator } from '../../session.ts';
import type { Bot } from './bot-list.ts';

interface Props {
  bot: Bot;
  present: 'overview' | 'unanswered' | 'evals';
}

/** Links to the pages of a bot, for the people who may open more than one of them. */
export function BotTabs({ bot, present }: Props) {
  const base = `/console/bots/${bot.id}`;
  const links = [
    [base, 'Overview'] as const,
    ...(hasUnanswered(bot) ? [[`${base}/unanswered`, 'Unanswered questions'] as const] : []),
    ...(hasEvals(bot) ? [[`${base}/evals`, 'Evals'] as const] : []),
  ];
  if (links.length === 1) return null;
  return (
    <TabLinks
      label={`Pages of ${bot.name}`}
      links={links}
      present={present === 'overview' ? base : `${base}/${present}`}
    />
  );
}

function hasUnanswered({ kind }: Bot): boolean {
  return kind === 'ai' && isAdministrator();
}

function hasEvals({ kind, system }: Bot): boolean {
  return kind !== 'webhook' && !system && isAdministrator();
}
