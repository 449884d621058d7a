import { defineEntity, p } from '@mikro-orm/core';

const LabelSchema = defineEntity({
  name: 'Label',
  tableName: 'labels',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    title: p.text(),
    description: p.text().nullable(),
    color: p.text().default('#1f93ff'),
    showOnSidebar: p.boolean().default(false),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** A colour-coded tag of an account's conversations. */
export class Label extends LabelSchema.class {
  static readonly noun = 'Label';
}
LabelSchema.setClass(Label);
