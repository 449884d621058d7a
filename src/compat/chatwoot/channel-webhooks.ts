import { needed, restOf } from './asking.ts';
import { theirFormat } from './format.ts';
import { objectOf } from './json.ts';
import type { Asked, Json } from './operation.ts';
import { ofChannel } from './subscriptions.ts';

/** By this name the webhook of an inbox of the API is known. */
const channelName = 'API channel';

/** The URL that a body names for the channel of an inbox; undefined where it names none. */
export function channelUrlOf(body: Json): string | undefined {
  const { webhook_url: url } = objectOf(body['channel']);
  return typeof url === 'string' && url !== '' ? url : undefined;
}

/**
 * Has a webhook tell a URL of all that happens in an inbox: theirs is a setting of the inbox's channel. Errors: those of our
 * routes for webhooks.
 */
export async function setChannelUrl(asked: Asked, inboxId: unknown, url: string): Promise<void> {
  const path = `${asked.account}/webhooks`;
  const present = await findChannelWebhook(asked, inboxId);
  if (present) {
    if (present['url'] !== url) needed(await asked.ask('PATCH', `${path}/${String(present['id'])}`, { url }));
    return;
  }
  const webhook = { url, name: channelName, inbox_id: inboxId, subscriptions: ofChannel, ...theirFormat };
  needed(await asked.ask('POST', path, webhook));
}

async function findChannelWebhook(asked: Asked, inboxId: unknown): Promise<Json | undefined> {
  const path = `${asked.account}/webhooks`;
  const first = needed(await asked.ask('GET', path));
  const webhooks = await restOf(first, { ...asked, path, query: new URLSearchParams() });
  return webhooks.find(({ inbox_id: inbox, name }) => inbox === inboxId && name === channelName);
}
