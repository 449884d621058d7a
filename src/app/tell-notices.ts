import type { AgentNotice, PausedEndpoint, WebhookDigest, WebhookNotice } from '../events/announcements.ts';
import type { Logger } from 'pino';
import { findAdministrators } from '../domain/endpoints/notices.ts';
import type { Mail, Mailer } from '../lib/mail.ts';
import type { Database } from '../postgres/database.ts';

interface Telling {
  database: Database;
  log: Pick<Logger, 'warn'>;
  mailer: Mailer;
  failed: (error: unknown) => void;
}

/**
 * Logs notices about webhooks. Where there is a mail server, tells the administrators of the account at once that one was switched
 * off; that one fails is in the digest.
 */
export function tellingNotices({ log, ...telling }: Telling): (notice: WebhookNotice) => void {
  return ({ what, account, webhook, reason }) => {
    const message = what === 'disabled' ? `webhook switched off: ${reason}` : 'webhook has been failing for an hour';
    log.warn({ account: account.id, webhook: webhook.id, reason }, message);
    if (what !== 'disabled') return;
    const called = webhook.name === null ? `webhook ${webhook.id}` : `webhook ${webhook.id} (${webhook.name})`;
    const text = [
      `Account: ${account.name}`,
      `Address: ${webhook.url}`,
      `${reason}.`,
      '',
      'It gets nothing until it is switched on again (PATCH with "active": true). What it missed can be sent then (POST …/recover).',
    ].join('\n');
    mailAdministrators(telling, account.id, { subject: `The ${called} was switched off`, text });
  };
}

/** Mails digests about webhooks to the administrators of their account, where there is a mail server. */
export function sendingDigests(telling: Omit<Telling, 'log'>): (digest: WebhookDigest) => void {
  return ({ account, lines }) => {
    const text = [
      `Account: ${account.name}`,
      '',
      ...lines,
      '',
      'Failed deliveries are tried again for about 3 days. After 5 days of nothing but failures a webhook is switched off.',
      'What was given up can be sent again (POST …/recover). You get this mail once a day at most.',
    ].join('\n');
    mailAdministrators(telling, account.id, { subject: `Webhooks of ${account.name}`, text });
  };
}

/**
 * Logs webhooks and bots that have been paused for a day, and tells the administrators of their account, where there is a mail
 * server, until when deliveries wait.
 */
export function tellingPauses({
  log,
  retentionDays,
  ...telling
}: Telling & { retentionDays: number }): (paused: PausedEndpoint) => void {
  return ({ kind, id, name, url, account, since }) => {
    log.warn({ account: account?.id ?? null, endpoint: kind, id, since }, 'paused for a day');
    if (!account) return;
    const called = name === null ? `${kind} ${id}` : `${kind} ${id} (${name})`;
    const path = `${kind === 'webhook' ? 'webhooks' : 'agent_bots'}/${id}`;
    const text = [
      `Account: ${account.name}`,
      ...(url === null ? [] : [`Address: ${url}`]),
      `The ${called} has been paused for a day, since ${since.toISOString()}.`,
      '',
      `It gets nothing until you resume it (POST …/${path}/resume). Deliveries wait for ${retentionDays} days.`,
      `Older ones are deleted with their events. To discard all that wait now: POST …/${path}/cancel_pending.`,
    ].join('\n');
    mailAdministrators(telling, account.id, { subject: `The ${called} is paused`, text });
  };
}

/** Mails agents who are away about an assignment or a mention, where there is a mail server. */
export function mailingAgents({ mailer, publicUrl }: { mailer: Mailer; publicUrl: string | null }) {
  return ({ account, email, conversationId, type, actorName, contactName, inboxName }: AgentNotice): void => {
    const about = `the conversation with ${contactName ?? 'a visitor'} in ${inboxName}`;
    const subject =
      type === 'conversation_mention'
        ? `${actorName} mentioned you`
        : `A conversation in ${inboxName} is assigned to you`;
    const sentence =
      type === 'conversation_mention'
        ? `${actorName} mentioned you in ${about}.`
        : `You have been assigned ${about}, by ${actorName}.`;
    const place = publicUrl === null ? [] : [`${publicUrl}/console/conversations/${conversationId}`];
    const text = [`Account: ${account.name}`, sentence, ...place].join('\n');
    mailer.tell({ to: { name: email, address: email }, subject, text });
  };
}

function mailAdministrators(
  { database, mailer, failed }: Omit<Telling, 'log'>,
  accountId: number,
  mail: Pick<Mail, 'subject' | 'text'>,
): void {
  if (!mailer.sends) return;
  findAdministrators(database.sql, accountId)
    .then((people) => people.forEach((to) => mailer.tell({ to, ...mail })))
    .catch(failed);
}
