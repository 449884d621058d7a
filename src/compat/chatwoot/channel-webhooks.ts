import { invalid } from '../../errors.ts';
import { channelName, ofChannel } from '../../lib/chatwoot-subscriptions.ts';
import { findProblems } from '../../schemas.ts';
import { needed, restOf } from './asking.ts';
import { theirFormat } from './format.ts';
import { objectOf } from './json.ts';
import type { Asked, Json } from './operation.ts';

/** Returns the URL that a body names for the channel of an inbox: null removes it; undefined if the body has none. */
export function channelUrlOf(body: Json): string | null | undefined {
  const { webhook_url: url } = objectOf(body['channel']);
  if (url === '' || url === null) return null;
  return typeof url === 'string' ? url : undefined;
}

/** Refuses a URL that no webhook could have, before anything is done. Errors: 422. */
export async function checkChannelUrl({ sent, checkUrl }: Asked): Promise<void> {
  const url = channelUrlOf(sent);
  if (typeof url !== 'string') return;
  const [problem = await checkUrl(url)] = findProblems('requests/webhook.create', { url, subscriptions: ofChannel });
  if (problem) throw invalid('/channel/webhook_url', problem.rule, problem.message);
}

/** Makes the webhook of a new inbox; one that is there already is left as it is. Errors: those of our route. */
export async function makeChannelWebhook(asked: Asked, inboxId: unknown, url: string): Promise<void> {
  const present = await findChannelWebhooks(asked, inboxId);
  if (present.length === 0) await create(asked, inboxId, url);
}

/**
 * Has a webhook tell a URL of all that happens in an inbox, or switches it off: theirs is a setting of the inbox's channel.
 * Errors: those of our routes for webhooks.
 */
export async function setChannelUrl(asked: Asked, inboxId: unknown, url: string | null): Promise<void> {
  let present = await findChannelWebhooks(asked, inboxId);
  if (present.length === 0 && url !== null) {
    await create(asked, inboxId, url);
    // A concurrent request may have made one too: the later look sees both, and the oldest stays.
    present = await findChannelWebhooks(asked, inboxId);
  }
  const [kept, ...doubled] = present;
  for (const { id } of doubled) await remove(asked, id);
  if (!kept) return;
  const wanted: Json = url === null ? { active: false } : { url, active: true };
  if (Object.entries(wanted).every(([name, value]) => kept[name] === value)) return;
  needed(await asked.ask('PATCH', `${asked.account}/webhooks/${String(kept['id'])}`, wanted));
}

async function create({ account, ask }: Asked, inboxId: unknown, url: string): Promise<void> {
  const webhook = { url, name: channelName, inbox_id: inboxId, subscriptions: ofChannel, ...theirFormat };
  needed(await ask('POST', `${account}/webhooks`, webhook));
}

async function remove({ account, ask }: Asked, id: unknown): Promise<void> {
  const told = await ask('DELETE', `${account}/webhooks/${String(id)}`);
  if (told.status !== 404) needed(told);
}

// The oldest first.
async function findChannelWebhooks(asked: Asked, inboxId: unknown): Promise<Json[]> {
  const path = `${asked.account}/webhooks`;
  const first = needed(await asked.ask('GET', path));
  const webhooks = await restOf(first, { ...asked, path, query: new URLSearchParams() });
  return webhooks.filter(({ inbox_id: inbox, name }) => inbox === inboxId && name === channelName);
}
