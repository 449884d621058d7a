import type { Sql } from '../postgres/sql.ts';
import { AttributeDefinition } from '../records/attribute-definition.ts';
import type { Transaction } from '../events/transaction.ts';
import {
  checkRoom,
  createRow,
  deleteRows,
  listPage,
  lockOne,
  readOne,
  save,
  uniqueOr422,
  update,
  type Page,
} from './small-rows.ts';

export type NewAttributeDefinition = Pick<
  AttributeDefinition,
  | 'attributeModel'
  | 'attributeKey'
  | 'attributeDisplayName'
  | 'attributeDescription'
  | 'attributeDisplayType'
  | 'attributeValues'
>;

/** Definitions of an account at most. */
const maxDefinitionsPerAccount = 500;

const refuseKey = uniqueOr422(
  'custom_attribute_definitions_key_unique',
  '/attribute_key',
  'Another custom attribute of this kind has this key',
);

/** Returns one page of the account's definitions of custom attributes, by key. */
export function listAttributeDefinitions(
  sql: Sql,
  accountId: number,
  page: number,
): Promise<Page<AttributeDefinition>> {
  return listPage(sql, AttributeDefinition, { accountId }, { page, orderBy: { attributeKey: 'asc', id: 'asc' } });
}

/** Returns a definition of the account. Errors: 404. */
export function readAttributeDefinition(sql: Sql, accountId: number, id: number): Promise<AttributeDefinition> {
  return readOne(sql, AttributeDefinition, { id, accountId });
}

/** Defines a custom attribute. Errors: 422 for a key in use, and where there are too many. */
export async function createAttributeDefinition(
  tx: Transaction,
  input: NewAttributeDefinition,
): Promise<AttributeDefinition> {
  await checkRoom(tx, AttributeDefinition, { most: maxDefinitionsPerAccount, plural: 'custom attribute definitions' });
  return createRow(tx.sql, AttributeDefinition, {
    ...input,
    accountId: tx.account.id,
    createdAt: tx.now,
    updatedAt: tx.now,
  }).catch(refuseKey);
}

function lockDefinition(tx: Transaction, id: number): Promise<AttributeDefinition> {
  return lockOne(tx.sql, AttributeDefinition, { id, accountId: tx.account.id });
}

/** Changes a definition; attributes keep their values. Errors: 404, 422 for a key in use. */
export async function updateAttributeDefinition(
  tx: Transaction,
  id: number,
  changes: Partial<NewAttributeDefinition>,
): Promise<AttributeDefinition> {
  const definition = await lockDefinition(tx, id);
  if (update(definition, changes, tx.now)) await save(tx.sql, definition).catch(refuseKey);
  return definition;
}

/** Deletes a definition; attributes keep their values. Errors: 404. */
export async function deleteAttributeDefinition(tx: Transaction, id: number): Promise<void> {
  const { accountId } = await lockDefinition(tx, id);
  await deleteRows(tx.sql, AttributeDefinition, { id, accountId });
}
