import type { Database } from '../postgres/database.ts';
import type { TouchedEndpoint } from '../postgres/wake-calls.ts';

/** Announcements of committed work within its process, by topic. */
export interface Announcements {
  /** Whether events were recorded, and the endpoints that have deliveries to make. */
  committed: { events: boolean; deliveries: readonly TouchedEndpoint[] };
  /** When a snooze ends. */
  snooze: Date;
  /** When a bot wants to be called. */
  call: Date;
  /** Plugins have changed; other processes get to know it too. */
  plugins: null;
  /** There may be articles to embed. */
  articles: null;
  run: RunFigures;
  notice: WebhookNotice;
  digest: WebhookDigest;
  paused: PausedEndpoint;
  notification: AgentNotice;
}

/** A run of a bot that was recorded. */
export interface RunFigures {
  plugin: string;
  outcome: string;
  cpuSeconds: number;
}

/** A notice to the administrators of an account: a webhook was switched off, or has been failing for an hour. */
export interface WebhookNotice {
  what: 'disabled' | 'failing';
  account: { id: number; name: string };
  webhook: { id: number; name: string | null; url: string };
  reason: string;
}

/** A webhook or a bot's server that has been paused for a day. */
export interface PausedEndpoint {
  kind: 'webhook' | 'bot';
  id: number;
  name: string | null;
  url: string | null;
  /** Null for a system bot. */
  account: { id: number; name: string } | null;
  since: Date;
}

/** Changes of an account's webhooks since the last digest, a line each. */
export interface WebhookDigest {
  account: { id: number; name: string };
  lines: readonly string[];
}

/** Notification of an agent who is away. */
export interface AgentNotice {
  account: { id: number; name: string };
  email: string;
  conversationId: number;
  type: string;
  actorName: string;
  contactName: string | null;
  inboxName: string;
}

/** Announces work that has been committed; within a transaction, use Transaction.announce. */
export function announce<Topic extends keyof Announcements>(
  { announcements }: Database,
  topic: Topic,
  value: Announcements[Topic],
): void {
  announcements.emit(topic, value);
}

/** Calls `listener` for each announcement of the topic, of any pool of the process. */
export function onAnnounced<Topic extends keyof Announcements>(
  { announcements }: Database,
  topic: Topic,
  listener: (value: Announcements[Topic]) => void,
): void {
  announcements.on(topic, listener);
}

/** Something may be due at an endpoint, live or requested. */
export function dueAt(
  { kind, id }: Pick<TouchedEndpoint, 'kind' | 'id'>,
  accountId: number,
): Announcements['committed'] {
  const endpoint = { kind, id, accountId };
  return { events: false, deliveries: [endpoint, { ...endpoint, isSide: true }] };
}
