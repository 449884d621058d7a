import { endWebhookSecret, readWebhook } from '../../../domain/webhooks.ts';
import { signingAt } from '../../../deliveries/core/signing-secrets.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { SecretUnreadableError, type SecretBox } from '../../../lib/secrets/secret-box.ts';
import { lastFour } from '../../../lib/secrets/tokens.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';

const base = '/api/v1/accounts/:account_id/webhooks/:id/secrets';

/** The signing secrets of a webhook: which of them sign, until when. */
export const secretRoutes = [
  doors.account(
    ['GET', base, 'List the signing secrets of a webhook'],
    {
      reply: 'resources/signing-secret-list',
      role: 'administrator',
      description: 'Those that sign, newest first. No more of a secret than its last four characters is answered.',
    },
    async ({ services: { secretBox }, sql, account, params, now }) => {
      const webhook = await readWebhook(sql, account.id, params.id);
      const { secret, secretId: id, secretCreatedAt: createdAt } = webhook;
      const older = signingAt(webhook, now).map((one) => ({
        id: one.id,
        created_at: unixSeconds(new Date(one.createdAt)),
        ends_at: unixSeconds(new Date(one.endsAt)),
        last_four: endOf(secretBox, one.secret),
      }));
      const newest = { id, created_at: unixSeconds(createdAt), ends_at: null, last_four: endOf(secretBox, secret) };
      return { payload: [newest, ...older] };
    },
  ),
  doors.account(
    ['DELETE', `${base}/:secret_id`, 'End a signing secret of a webhook'],
    {
      reply: 'resources/empty',
      role: 'administrator',
      audit: { action: 'secret.deleted' },
      errors: [409],
      description: 'Nothing is signed with it any more. The newest secret cannot be ended (409): rotate it.',
    },
    ({ params: { id, secret_id: secretId }, transact }) => transact((tx) => endWebhookSecret(tx, id, secretId)),
  ),
];

// A secret that another SECRET_KEY sealed is listed all the same, so that it can be ended.
function endOf(box: SecretBox, sealed: string): string {
  try {
    return lastFour(box.open(sealed));
  } catch (error) {
    if (error instanceof SecretUnreadableError) return '';
    throw error;
  }
}
