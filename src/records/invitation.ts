import { defineEntity, p } from '@mikro-orm/core';

const InvitationSchema = defineEntity({
  name: 'Invitation',
  tableName: 'invitations',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    userId: p.bigint('number'),
    tokenHash: p.blob(),
    expiresAt: p.datetime(),
    closedAt: p.datetime().nullable(),
    mailed: p.boolean().default(false),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});

/**
 * An invitation to take the seat `userId`, by a link with a token; only the token's SHA-256 is stored. `closedAt` is when it
 * was accepted or withdrawn; the row stays, because it counts against the account's limit. `mailed`: the link went to the invited address only.
 */
export class Invitation extends InvitationSchema.class {}
InvitationSchema.setClass(Invitation);
