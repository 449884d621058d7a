import type { Shape } from '../../schemas.ts';

type Pending = NonNullable<Shape<'resources/plugin'>['pending']>;

/** A line for each problem that a waiting version has with the settings of a bot. */
export function refusedBots({ refuses: { count, bots } }: Pending): string[] {
  const lines = bots.flatMap(({ agent_bot_id: id, account_id: account, name, problems }) => {
    const whose = account === null ? 'of the system' : `account ${account}`;
    return problems.map(({ message }) => `${name} (bot ${id}, ${whose}): ${message}`);
  });
  return count > bots.length ? [...lines, `${count - bots.length} bots more`] : lines;
}
