import { NoAnswer } from './client.ts';
import { hasChannelUrl } from './copy/automation-settings.ts';
import type { Copying } from './copying.ts';
import { listAt, listIfShown, pagesOf } from './pages.ts';

const lists = [
  ['inboxes', '/inboxes'],
  ['agents', '/agents'],
  ['teams', '/teams'],
  ['labels', '/labels'],
  ['attribute_definitions', '/custom_attribute_definitions'],
  ['canned_responses', '/canned_responses'],
] as const;
// Resources of a Chatwoot account that are not copied.
const others = ['agent_bots', 'campaigns', 'custom_filters', 'portals', 'sla_policies'] as const;

type Found = Pick<Copying, 'client' | 'account' | 'reporter'>;

/** Counts resources that are not copied, so that they are known before moving day; skips those that Chatwoot does not show. */
export async function countOthers({ client, account, reporter }: Found): Promise<void> {
  for (const kind of others) {
    try {
      const list = (await listIfShown(client, `${account}/${kind}`)) ?? [];
      if (list.length > 0) reporter.notCopied(kind, list.length);
    } catch (error) {
      // A server that does not answer is not called again for the others.
      if (error instanceof NoAnswer && !client.isStopped) return;
      throw error;
    }
  }
}

/** Counts the records to copy, and copies nothing. */
export async function look({ client, account, reporter }: Found): Promise<void> {
  for (const [kind, path] of lists) reporter.theirs(kind, (await listAt(client, account + path)).length);
  const ofChannels = (await listAt(client, `${account}/inboxes`)).filter(hasChannelUrl);
  const webhooks = await listAt(client, `${account}/webhooks`, 'webhooks');
  reporter.theirs('webhooks', webhooks.length + ofChannels.length);
  for (const kind of ['automation_rules', 'macros'] as const)
    reporter.theirs(kind, (await listIfShown(client, `${account}/${kind}`))?.length ?? null);
  for (const [kind, query] of [
    ['contacts', {}],
    ['conversations', { status: 'all', assignee_type: 'all' }],
  ] as const)
    reporter.theirs(kind, await countAt({ client, account }, kind, query));
}

// The first page carries the count of all pages.
async function countAt(
  { client, account }: Pick<Copying, 'client' | 'account'>,
  kind: string,
  query: Readonly<Record<string, string>>,
): Promise<number | null> {
  for await (const { count } of pagesOf(client, `${account}/${kind}`, { query, leaveOut: () => undefined }))
    return count;
  return 0;
}
