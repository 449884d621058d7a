import { defineEntity, p } from '@mikro-orm/core';

const AttributeDefinitionSchema = defineEntity({
  name: 'AttributeDefinition',
  tableName: 'custom_attribute_definitions',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    attributeModel: p.text().$type<'contact_attribute' | 'conversation_attribute'>(),
    attributeKey: p.text(),
    attributeDisplayName: p.text(),
    attributeDescription: p.text().nullable(),
    attributeDisplayType: p
      .text()
      .$type<'text' | 'number' | 'currency' | 'percent' | 'link' | 'date' | 'list' | 'checkbox'>(),
    attributeValues: p.json<string[]>().defaultRaw(`'[]'`),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** The name of a custom attribute, and how it is shown; values are not validated against it. */
export class AttributeDefinition extends AttributeDefinitionSchema.class {
  static readonly noun = 'Custom attribute definition';
}
AttributeDefinitionSchema.setClass(AttributeDefinition);
