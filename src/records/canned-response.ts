import { defineEntity, p } from '@mikro-orm/core';

const CannedResponseSchema = defineEntity({
  name: 'CannedResponse',
  tableName: 'canned_responses',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    shortCode: p.text(),
    content: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** A text that agents insert into replies by its short code. */
export class CannedResponse extends CannedResponseSchema.class {
  static readonly noun = 'Canned response';
}
CannedResponseSchema.setClass(CannedResponse);
