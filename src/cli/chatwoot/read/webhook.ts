import type { NewWebhook } from '../../../domain/webhooks.ts';
import { channelName, newSubscriptions, ofChannel } from '../../../lib/chatwoot-subscriptions.ts';
import { findProblems } from '../../../schemas.ts';
import type { Ids } from '../copying.ts';
import { idOf, recordOf, textOf, type Foreign } from '../values.ts';

type ReadWebhook = Pick<NewWebhook, 'url' | 'name' | 'subscriptions' | 'inboxId'>;

const [mostUrl, mostName] = [2048, 255];

/** Reads a webhook; null where its URL or its events are none here, or its inbox was not copied. */
export function toWebhook(given: Foreign, inboxes: Ids): ReadWebhook | null {
  const inbox = idOf(given['inbox_id']) ?? idOf(recordOf(given['inbox'])['id']);
  const inboxId = inbox === null ? null : inboxes.get(inbox);
  if (inboxId === undefined) return null;
  const name = textOf(given['name'], mostName);
  return checked({
    url: given['url'],
    name,
    inboxId,
    subscriptions: newSubscriptions(given['subscriptions'] ?? undefined),
  });
}

/** Reads the webhook that the channel of an inbox has there; null where its URL is none, or the inbox was not copied. */
export function toChannelWebhook(given: Foreign, inboxes: Ids): ReadWebhook | null {
  const inboxId = inboxes.get(idOf(given['id']) ?? 0);
  if (inboxId === undefined) return null;
  return checked({ url: given['webhook_url'], name: channelName, inboxId, subscriptions: ofChannel });
}

function checked({
  url,
  subscriptions,
  ...rest
}: Pick<ReadWebhook, 'name' | 'inboxId'> & { url: unknown; subscriptions: unknown }): ReadWebhook | null {
  const text = textOf(url, mostUrl + 1);
  const isWeb = text !== null && /^https?:\/\//i.test(text) && URL.canParse(text);
  if (!isWeb || findProblems('requests/webhook.create', { url: text, subscriptions }).length > 0) return null;
  return { ...rest, url: text, subscriptions: subscriptions as string[] };
}
