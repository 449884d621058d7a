import { signingAt } from '../../deliveries/core/signing-secrets.ts';
import { receiverEndpoint, receiverUrl } from '../../demo/endpoint.ts';
import { Receiver, type PlayWebhook } from '../../demo/receiver.ts';
import { ReceiverServer } from '../../demo/receiver-server.ts';
import { findErased } from '../../domain/upkeep/named-records.ts';
import { findWebhooksAt } from '../../domain/webhooks.ts';
import type { Mechanisms } from './mechanisms.ts';

/** The built-in receiver of the demonstration data; null without DEMO, and in processes that serve no requests. */
export function createDemoReceiver(mechanisms: Mechanisms): ReceiverServer | null {
  const { config, clock, log, warn } = mechanisms;
  if (!config.demo || config.role === 'engine') return null;
  const endpoint = receiverEndpoint(config.secretKey);
  const webhooksAt = (path: string) => readWebhooksAt(mechanisms, new URL(path, receiverUrl(endpoint)).href);
  // A second process on the machine needs none: the first one receives for both.
  const unavailable = (problem: string) => log.info({ problem }, 'no demo receiver in this process');
  const erased = (accountId: number, names: readonly string[]) =>
    findErased(mechanisms.databases.requests.sql, accountId, names);
  const receiver = new Receiver({ clock, webhooksAt, findErased: erased });
  return new ReceiverServer({ receiver, endpoint, failed: warn, unavailable });
}

async function readWebhooksAt({ databases, secretBox, clock }: Mechanisms, url: string): Promise<PlayWebhook[]> {
  const webhooks = await findWebhooksAt(databases.requests.sql, url);
  const now = clock.now();
  return webhooks.map((webhook) => {
    const { id, accountId, name = null } = webhook;
    const sealed = [webhook, ...signingAt(webhook, now)];
    return { id, account_id: accountId, name, secrets: sealed.map(({ secret }) => secretBox.open(secret)) };
  });
}
