import { defineEntity, p } from '@mikro-orm/core';

const AccessTokenSchema = defineEntity({
  name: 'AccessToken',
  tableName: 'access_tokens',
  properties: {
    id: p.bigint('number').primary(),
    userId: p.bigint('number').nullable(),
    agentBotId: p.bigint('number').nullable(),
    tokenHash: p.blob(),
    lastFour: p.text(),
    /** The webhook that a link shares; null for all other tokens. */
    webhookId: p.bigint('number').nullable(),
    /** The seat, in the webhook's account, of the administrator who shared it. */
    seatId: p.bigint('number').nullable(),
    /** Null for a token that lasts; else it is the sign-in of a person in a browser, or shares a webhook. */
    expiresAt: p.datetime().nullable(),
    /** The browser's name for itself at a sign-in; null for other tokens. */
    userAgent: p.text().nullable(),
    /** How the person proved who it is; null for other tokens. */
    signedInBy: p.text().$type<'token' | 'link' | 'password' | 'invitation' | 'oidc'>().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});

/** The access token of a user or a bot, a sign-in, or a link that shares a webhook; only its SHA-256 is stored. */
export class AccessToken extends AccessTokenSchema.class {}
AccessTokenSchema.setClass(AccessToken);
