import { listShares, revokeShare, shareWebhook, type WebhookShare } from '../../../domain/endpoints/webhook-shares.ts';
import type { Principal } from '../../../domain/people/identity.ts';
import type { Endpoint } from '../../../deliveries/core/endpoint.ts';
import { notFound } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { newToken } from '../../../lib/secrets/tokens.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';
import { presentWhole } from '../../page.ts';

const base = '/api/v1/accounts/:account_id/webhooks/:id';

/** The links by which developers of receivers read the log of one webhook. */
export const shareRoutes = [
  doors.account(
    ['POST', `${base}/share`, 'Share a webhook with the developer of its receiver'],
    {
      body: 'requests/webhook.share',
      reply: 'resources/shared-webhook',
      role: 'administrator',
      audit: { action: 'webhook.shared' },
      status: 201,
      description:
        'The token lists and reads the deliveries of this webhook, resends them, sends tests and reads the health. Everything else is refused (403), records of other webhooks are not found (404). It ends when it expires or is revoked, with the webhook, and while its creator is no administrator. `url` is a page for it.',
    },
    async ({ services, account, params: { id }, body, transact }) => {
      const token = newToken('webhook', services.random);
      const expiresAt = await transact(async (tx) => {
        const end = new Date(tx.now.getTime() + body.expires_in * 1000);
        await shareWebhook(tx, id, { token, expiresAt: end });
        return end;
      });
      // Browsers send no fragment: the token is in no log of a proxy.
      const url = `${services.publicUrl()}/console/shared/${account.id}/${id}#token=${token}`;
      return { token, url, expires_at: unixSeconds(expiresAt) };
    },
  ),
  doors.account(
    ['GET', `${base}/shares`, 'List the links that share a webhook'],
    {
      reply: 'resources/webhook-share-list',
      role: 'administrator',
      description: 'Those that have not expired, newest first.',
    },
    async ({ sql, account, params, now }) =>
      presentWhole(await listShares(sql, account.id, params.id, now), presentShare),
  ),
  doors.account(
    ['DELETE', `${base}/shares/:share_id`, 'Revoke a link that shares a webhook'],
    { reply: 'resources/empty', role: 'administrator', audit: { action: 'webhook.unshared' } },
    ({ params: { id, share_id: shareId }, transact }) => transact((tx) => revokeShare(tx, id, shareId)),
  ),
];

/** Id of the webhook that the caller's link shares; null for administrators, who see all of them. */
export function sharedWebhook({ kind, id }: Principal): number | null {
  return kind === 'webhook' ? id : null;
}

/** Hides what is not of the webhook that the caller's link shares. Errors: 404. */
export function requireShared(principal: Principal, endpoint: Endpoint, what: 'Webhook' | 'Delivery'): void {
  const shared = sharedWebhook(principal);
  if (shared !== null && (endpoint.kind !== 'webhook' || endpoint.id !== shared)) throw notFound(what);
}

function presentShare({
  id,
  lastFour,
  createdBy,
  createdAt,
  expiresAt,
}: WebhookShare): Shape<'resources/webhook-share'> {
  return {
    id,
    last_four: lastFour,
    created_by: createdBy,
    created_at: unixSeconds(createdAt),
    expires_at: unixSeconds(expiresAt),
  };
}
