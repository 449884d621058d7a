import { Migration } from '@mikro-orm/migrations';
import { accounts } from './0.2.0/accounts.ts';
import { articles } from './0.2.0/articles.ts';
import { attachments } from './0.2.0/attachments.ts';
import { botEvals } from './0.2.0/bot-evals.ts';
import { botRuns } from './0.2.0/bot-runs.ts';
import { botStorage } from './0.2.0/bot-storage.ts';
import { auditLog } from './0.2.0/audit-log.ts';
import { bots } from './0.2.0/bots.ts';
import { cannedResponses } from './0.2.0/canned-responses.ts';
import { customFilters } from './0.2.0/custom-filters.ts';
import { macros } from './0.2.0/macros.ts';
import { channels } from './0.2.0/channels.ts';
import { contactInboxes } from './0.2.0/contact-inboxes.ts';
import { contacts } from './0.2.0/contacts.ts';
import { conversationBulkActions } from './0.2.0/conversation-bulk-actions.ts';
import { conversationCounts } from './0.2.0/conversation-counts.ts';
import { conversations } from './0.2.0/conversations.ts';
import { deliveries } from './0.2.0/deliveries.ts';
import { embeddings } from './0.2.0/embeddings.ts';
import { events } from './0.2.0/events.ts';
import { hooks } from './0.2.0/hooks.ts';
import { imports } from './0.2.0/imports.ts';
import { notifications } from './0.2.0/notifications.ts';
import { plugins } from './0.2.0/plugins.ts';
import { reports } from './0.2.0/reports.ts';
import { seats } from './0.2.0/seats.ts';
import { signIns } from './0.2.0/sign-ins.ts';
import { storedAnswers } from './0.2.0/stored-answers.ts';
import { webhooks } from './0.2.0/webhooks.ts';

/** Release 0.2.0: new tables and columns, filled from the rows of 0.1.0. All tables are locked before it begins. */
export class Release020 extends Migration {
  override up(): void {
    for (const statements of inOrder) this.addSql(statements);
  }
}

// Conversations are counted as they are after their silence has changed; imports refer to messages by the remaining key.
const inOrder = [
  accounts,
  seats,
  signIns,
  contacts,
  contactInboxes,
  conversations,
  conversationCounts,
  attachments,
  events,
  deliveries,
  webhooks,
  bots,
  botRuns,
  botEvals,
  botStorage,
  plugins,
  hooks,
  channels,
  articles,
  embeddings,
  cannedResponses,
  customFilters,
  macros,
  conversationBulkActions,
  notifications,
  imports,
  reports,
  storedAnswers,
  auditLog,
];
