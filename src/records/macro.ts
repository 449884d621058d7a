import { defineEntity, p } from '@mikro-orm/core';

/** Step of a macro, in the words of Chatwoot. */
export interface MacroAction {
  action_name: string;
  action_params: (string | number)[];
}

const MacroSchema = defineEntity({
  name: 'Macro',
  tableName: 'macros',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    name: p.text(),
    visibility: p.text().$type<'personal' | 'global'>(),
    actions: p.json<MacroAction[]>(),
    createdById: p.bigint('number'),
    updatedById: p.bigint('number'),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** Actions that agents run on conversations together, in their order. */
export class Macro extends MacroSchema.class {
  static readonly noun = 'Macro';
}
MacroSchema.setClass(Macro);
