import type { Copying } from './copying.ts';
import { listAt, pagesOf } from './pages.ts';

const lists = ['inboxes', 'agents', 'teams', 'labels'] as const;

/** Counts what there is to copy, and copies nothing. */
export async function look({
  client,
  account,
  reporter,
}: Pick<Copying, 'client' | 'account' | 'reporter'>): Promise<void> {
  for (const kind of lists) reporter.theirs(kind, (await listAt(client, `${account}/${kind}`)).length);
  for (const [kind, query] of [
    ['contacts', {}],
    ['conversations', { status: 'all', assignee_type: 'all' }],
  ] as const)
    reporter.theirs(kind, await countAt({ client, account }, kind, query));
}

// The first page tells how many there are on all.
async function countAt(
  { client, account }: Pick<Copying, 'client' | 'account'>,
  kind: string,
  query: Readonly<Record<string, string>>,
): Promise<number | null> {
  for await (const { count } of pagesOf(client, `${account}/${kind}`, { query, leaveOut: () => undefined }))
    return count;
  return 0;
}
