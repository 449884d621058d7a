import { defineEntity, p } from '@mikro-orm/core';

const CustomFilterSchema = defineEntity({
  name: 'CustomFilter',
  tableName: 'custom_filters',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    userId: p.bigint('number'),
    name: p.text(),
    filterType: p.text().$type<'conversation' | 'contact' | 'report'>(),
    query: p.json<Record<string, unknown>>(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** A saved view: a query that an agent keeps by a name. The service stores the query and does not read it. */
export class CustomFilter extends CustomFilterSchema.class {
  static readonly noun = 'Custom filter';
}
CustomFilterSchema.setClass(CustomFilter);
