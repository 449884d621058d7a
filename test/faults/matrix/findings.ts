import type { Row } from './trial.ts';

const toldOfEach = 3;

/** What was found against the service, a line for each, and of each kind the first ones. */
export function findingsOf({ id, row }: { id: string; row: Row }): string[] {
  const { lost, ghosts, order, unexplained, ledger, problems } = row;
  return Object.entries({ lost, ghosts, order, unexplained, ledger, problems }).flatMap(([kind, found]) => [
    ...found.slice(0, toldOfEach).map((sentence) => `${id} ${kind}: ${sentence}`),
    ...(found.length > toldOfEach ? [`${id} ${kind}: and ${found.length - toldOfEach} more`] : []),
  ]);
}
