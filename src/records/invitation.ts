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
    createdAt: p.datetime().defaultRaw('now()'),
  },
});

/**
 * A link by which somebody takes the seat `userId`; only the token's SHA-256 is kept. `closedAt` is when it was accepted
 * or withdrawn; the row stays, since it counts against how many an account may send.
 */
export class Invitation extends InvitationSchema.class {}
InvitationSchema.setClass(Invitation);
