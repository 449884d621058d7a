import type { Shape } from '../../schemas.ts';
import { listOf } from '../terminal/print.ts';
import { refusedBots } from './refused-bots.ts';

/** Returns lines about a version of a plugin that waits for approval, with the reason; none if no version waits. */
export function tellWaiting({ id, version, pending }: Shape<'resources/plugin'>): string[] {
  if (!pending) return [];
  return [
    `${id} ${pending.version} waits for approval; ${version} runs until then.`,
    ...listOf('It would do more than the one that runs:', pending.widens),
    ...listOf('It refuses the settings of bots, which would not answer any more:', refusedBots(pending)),
    `Approve it with: npx switchboard plugin approve ${id} --hash ${pending.hash}`,
  ];
}
