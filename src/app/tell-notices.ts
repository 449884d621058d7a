import type { WebhookNotice } from '../events/announcements.ts';
import type { Logger } from 'pino';
import { findAdministrators } from '../domain/endpoints/notices.ts';
import type { Mailer } from '../lib/mail.ts';
import type { Database } from '../postgres/database.ts';

interface Telling {
  database: Database;
  log: Pick<Logger, 'warn'>;
  mailer: Mailer;
  failed: (error: unknown) => void;
}

/** Logs notices about webhooks and, where there is a mail server, sends them to the administrators of their account. */
export function tellingNotices({ database, log, mailer, failed }: Telling): (notice: WebhookNotice) => void {
  return ({ what, account, webhook, reason }) => {
    const message = what === 'disabled' ? `webhook switched off: ${reason}` : 'webhook has been failing for an hour';
    log.warn({ account: account.id, webhook: webhook.id, reason }, message);
    if (!mailer.sends) return;
    const called = webhook.name === null ? `webhook ${webhook.id}` : `webhook ${webhook.id} (${webhook.name})`;
    const subject = what === 'disabled' ? `The ${called} was switched off` : `The ${called} fails`;
    const text = [
      `Account: ${account.name}`,
      `Address: ${webhook.url}`,
      `${reason}.`,
      '',
      what === 'disabled'
        ? 'It gets nothing until it is switched on again (PATCH with "active": true). What it missed can be sent then (POST …/recover).'
        : 'Its deliveries are tried again for about 3 days. After 5 days of nothing but failures it is switched off.',
    ].join('\n');
    findAdministrators(database.sql, account.id)
      .then((people) => people.forEach((to) => mailer.tell({ to, subject, text })))
      .catch(failed);
  };
}
