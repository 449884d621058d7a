import {
  createAttributeDefinition,
  deleteAttributeDefinition,
  listAttributeDefinitions,
  readAttributeDefinition,
  updateAttributeDefinition,
} from '../../domain/attribute-definitions.ts';
import type { AttributeDefinition } from '../../records/attribute-definition.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { presentPage } from '../page.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/api/v1/accounts/:account_id/custom_attribute_definitions';

function presentDefinition(definition: AttributeDefinition): Shape<'resources/attribute-definition'> {
  return {
    id: definition.id,
    account_id: definition.accountId,
    attribute_key: definition.attributeKey,
    attribute_model: definition.attributeModel,
    attribute_display_name: definition.attributeDisplayName,
    attribute_description: definition.attributeDescription ?? null,
    attribute_display_type: definition.attributeDisplayType,
    attribute_values: definition.attributeValues,
    created_at: unixSeconds(definition.createdAt),
    updated_at: unixSeconds(definition.updatedAt),
  };
}

export const attributeDefinitionRoutes = [
  doors.account(
    ['GET', base, 'List custom attribute definitions'],
    { query: 'requests/page.query', reply: 'resources/attribute-definition-list', paged: true, role: 'agent' },
    async ({ sql, account, query: { page = 1 } }) =>
      presentPage(await listAttributeDefinitions(sql, account.id, page), presentDefinition),
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get a custom attribute definition'],
    { reply: 'resources/attribute-definition', record: true, role: 'agent' },
    async ({ sql, account, params }) => presentDefinition(await readAttributeDefinition(sql, account.id, params.id)),
  ),
  doors.account(
    ['POST', base, 'Define a custom attribute'],
    {
      body: 'requests/attribute-definition.create',
      reply: 'resources/attribute-definition',
      role: 'administrator',
      status: 201,
    },
    async ({ body, transact }) => {
      const definition = await transact((tx) =>
        createAttributeDefinition(tx, {
          attributeModel: body.attribute_model,
          attributeKey: body.attribute_key,
          attributeDisplayName: body.attribute_display_name,
          attributeDescription: body.attribute_description ?? null,
          attributeDisplayType: body.attribute_display_type ?? 'text',
          attributeValues: body.attribute_values ?? [],
        }),
      );
      return presentDefinition(definition);
    },
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update a custom attribute definition'],
    { body: 'requests/attribute-definition.update', reply: 'resources/attribute-definition', role: 'administrator' },
    async ({ params, body, transact }) => {
      const changes = withoutUndefined({
        attributeModel: body.attribute_model,
        attributeKey: body.attribute_key,
        attributeDisplayName: body.attribute_display_name,
        attributeDescription: body.attribute_description,
        attributeDisplayType: body.attribute_display_type,
        attributeValues: body.attribute_values,
      });
      return presentDefinition(await transact((tx) => updateAttributeDefinition(tx, params.id, changes)));
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete a custom attribute definition'],
    { reply: 'resources/empty', role: 'administrator' },
    ({ params, transact }) => transact((tx) => deleteAttributeDefinition(tx, params.id)),
  ),
];
