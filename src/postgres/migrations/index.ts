import { OperatorError } from '../../lib/operator-error.ts';
import { sql, type Executor } from '../sql.ts';
import { FirstSchema } from './20261120-first-schema.ts';
import { ContactErasure } from './20261122-contact-erasure.ts';
import { Installation } from './20261122-installation.ts';
import { Silence } from './20261122-silence.ts';
import { People } from './20261122-people.ts';
import { VisitorIdentity } from './20261122-visitor-identity.ts';
import { BotSecrets } from './20261122-bot-secrets.ts';
import { Claims } from './20261122-claims.ts';
import { EndpointHealth } from './20261122-endpoint-health.ts';
import { PluginClaims } from './20261122-plugin-claims.ts';
import { BotQuarantine } from './20261122-bot-quarantine.ts';
import { EventFeed } from './20261122-event-feed.ts';
import { LabelRenames } from './20261122-label-renames.ts';
import { Articles } from './20261122-articles.ts';
import { Backlogs } from './20261122-backlogs.ts';
import { ConversationCounts } from './20261122-conversation-counts.ts';
import { BotTokens } from './20261122-bot-tokens.ts';
import { ClosedBy } from './20261122-closed-by.ts';
import { Forwarding } from './20261122-forwarding.ts';
import { HandoffReason } from './20261122-handoff-reason.ts';
import { BotDoors } from './20261122-bot-doors.ts';
import { LeanIndexes } from './20261122-lean-indexes.ts';
import { Plugins } from './20261122-plugins.ts';
import { Batches } from './20261122-batches.ts';
import { RunRecords } from './20261122-run-records.ts';
import { InboxOrder } from './20261122-inbox-order.ts';
import { RunLists } from './20261122-run-lists.ts';
import { FeedBounds } from './20261122-feed-bounds.ts';
import { PluginObstacles } from './20261122-plugin-obstacles.ts';
import { RunErasure } from './20261122-run-erasure.ts';
import { StaleDeliveries } from './20261122-stale-deliveries.ts';
import { ModelServers } from './20261122-model-servers.ts';
import { BotUsage } from './20261122-bot-usage.ts';
import { DeliveryLog } from './20261122-delivery-log.ts';
import { StreamTickets } from './20261122-stream-tickets.ts';
import { MessageWrites } from './20261122-message-writes.ts';
import { SignIns } from './20261122-sign-ins.ts';
import { SignInBrowsers } from './20261123-sign-in-browsers.ts';
import { Attachments } from './20261122-attachments.ts';
import { AttachmentObjects } from './20261122-attachment-objects.ts';
import { FormerAuthors } from './20261123-former-authors.ts';
import { ImportedContacts } from './20261123-imported-contacts.ts';
import { Imports } from './20261123-imports.ts';
import { MissingFiles } from './20261123-missing-files.ts';
import { MissingMessages } from './20261123-missing-messages.ts';
import { ReportHours } from './20261122-report-hours.ts';
import { EmbeddingChanges } from './20261123-embedding-changes.ts';
import { WebhookVersions } from './20261122-webhook-versions.ts';
import { StorageTotals } from './20261122-storage-totals.ts';
import { AskedDeliveries } from './20261122-asked-deliveries.ts';
import { Recoveries } from './20261122-recoveries.ts';
import { WebhookNotices } from './20261122-webhook-notices.ts';
import { ArticleEmbeddings } from './20261122-article-embeddings.ts';
import { FeedQueue } from './20261122-feed-queue.ts';
import { Presumptions } from './20261122-presumptions.ts';
import { RecoveryLanes } from './20261122-recovery-lanes.ts';
import { ContactIdentifiers } from './20261122-contact-identifiers.ts';
import { ContactLabels } from './20261122-contact-labels.ts';
import { ContactAttributes } from './20261122-contact-attributes.ts';
import { SessionBegan } from './20261122-session-began.ts';
import { ContactInboxes } from './20261122-contact-inboxes.ts';
import { BodyFormats } from './20261123-body-formats.ts';
import { AttributeDefinitions } from './20261123-attribute-definitions.ts';
import { BotChanges } from './20261123-bot-changes.ts';
import { ImportedSettings } from './20261123-imported-settings.ts';
import { StoredAnswers } from './20261124-stored-answers.ts';

/** All migrations in order, by the names under which they are recorded. */
export const migrations = [
  { name: '20261120-first-schema', class: FirstSchema },
  { name: '20261122-installation', class: Installation },
  { name: '20261122-silence', class: Silence },
  { name: '20261122-people', class: People },
  { name: '20261122-visitor-identity', class: VisitorIdentity },
  { name: '20261122-claims', class: Claims },
  { name: '20261122-bot-secrets', class: BotSecrets },
  { name: '20261122-contact-erasure', class: ContactErasure },
  { name: '20261122-endpoint-health', class: EndpointHealth },
  { name: '20261122-plugin-claims', class: PluginClaims },
  { name: '20261122-bot-quarantine', class: BotQuarantine },
  { name: '20261122-event-feed', class: EventFeed },
  { name: '20261122-label-renames', class: LabelRenames },
  { name: '20261122-backlogs', class: Backlogs },
  { name: '20261122-conversation-counts', class: ConversationCounts },
  { name: '20261122-lean-indexes', class: LeanIndexes },
  { name: '20261122-plugins', class: Plugins },
  { name: '20261122-batches', class: Batches },
  { name: '20261122-run-records', class: RunRecords },
  { name: '20261122-inbox-order', class: InboxOrder },
  { name: '20261122-run-lists', class: RunLists },
  { name: '20261122-bot-doors', class: BotDoors },
  { name: '20261122-handoff-reason', class: HandoffReason },
  { name: '20261122-articles', class: Articles },
  { name: '20261122-feed-bounds', class: FeedBounds },
  { name: '20261122-plugin-obstacles', class: PluginObstacles },
  { name: '20261122-run-erasure', class: RunErasure },
  { name: '20261122-stale-deliveries', class: StaleDeliveries },
  { name: '20261122-model-servers', class: ModelServers },
  { name: '20261122-delivery-log', class: DeliveryLog },
  { name: '20261122-stream-tickets', class: StreamTickets },
  { name: '20261122-forwarding', class: Forwarding },
  { name: '20261122-message-writes', class: MessageWrites },
  { name: '20261122-closed-by', class: ClosedBy },
  { name: '20261122-bot-tokens', class: BotTokens },
  { name: '20261122-webhook-versions', class: WebhookVersions },
  { name: '20261122-storage-totals', class: StorageTotals },
  { name: '20261122-bot-usage', class: BotUsage },
  { name: '20261122-asked-deliveries', class: AskedDeliveries },
  { name: '20261122-recoveries', class: Recoveries },
  { name: '20261122-webhook-notices', class: WebhookNotices },
  { name: '20261122-article-embeddings', class: ArticleEmbeddings },
  { name: '20261122-feed-queue', class: FeedQueue },
  { name: '20261122-presumptions', class: Presumptions },
  { name: '20261122-recovery-lanes', class: RecoveryLanes },
  { name: '20261122-session-began', class: SessionBegan },
  { name: '20261122-sign-ins', class: SignIns },
  { name: '20261122-contact-identifiers', class: ContactIdentifiers },
  { name: '20261122-contact-labels', class: ContactLabels },
  { name: '20261122-contact-attributes', class: ContactAttributes },
  { name: '20261122-attachments', class: Attachments },
  { name: '20261122-contact-inboxes', class: ContactInboxes },
  { name: '20261122-attachment-objects', class: AttachmentObjects },
  { name: '20261122-report-hours', class: ReportHours },
  { name: '20261123-imports', class: Imports },
  { name: '20261123-body-formats', class: BodyFormats },
  { name: '20261123-embedding-changes', class: EmbeddingChanges },
  { name: '20261123-sign-in-browsers', class: SignInBrowsers },
  { name: '20261123-imported-contacts', class: ImportedContacts },
  { name: '20261123-former-authors', class: FormerAuthors },
  { name: '20261123-attribute-definitions', class: AttributeDefinitions },
  { name: '20261123-missing-files', class: MissingFiles },
  { name: '20261123-missing-messages', class: MissingMessages },
  { name: '20261123-bot-changes', class: BotChanges },
  { name: '20261123-imported-settings', class: ImportedSettings },
  { name: '20261124-stored-answers', class: StoredAnswers },
];

/** The names of the applied migrations; none for an empty database. */
export async function appliedMigrations(executor: Executor): Promise<string[]> {
  const [known] = await sql<{ table: string | null }>(executor, `SELECT to_regclass('migrations')::text AS "table"`);
  if (!known?.table) return [];
  return (await sql<{ name: string }>(executor, 'SELECT name FROM migrations ORDER BY id')).map(({ name }) => name);
}

/** The applied migrations that neither this release nor `wanted` has: a newer release has made them. */
export function unknownAmong(applied: readonly string[], wanted = migrations): string[] {
  const known = new Set([...migrations, ...wanted].map(({ name }) => name));
  return applied.filter((name) => !known.has(name));
}

/** Throws OperatorError if a newer release has migrated the database. */
export function refuseUnknown(applied: readonly string[], wanted = migrations): void {
  const unknown = unknownAmong(applied, wanted);
  if (unknown.length === 0) return;
  throw new OperatorError(
    `This database was migrated by a newer release: this one does not know the migration ${unknown.at(-1)}. Start that ` +
      'release, or restore a backup from before the upgrade.',
  );
}

/** True if all migrations were applied; false for an empty database. Throws OperatorError as refuseUnknown does. */
export async function isMigrated(executor: Executor): Promise<boolean> {
  const applied = await appliedMigrations(executor);
  refuseUnknown(applied);
  return migrations.every(({ name }) => applied.includes(name));
}
