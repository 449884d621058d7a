import type { Sql } from '../postgres/sql.ts';
import { containing } from '../postgres/like.ts';
import { CannedResponse } from '../records/canned-response.ts';
import type { Transaction } from '../events/transaction.ts';
import {
  beginningWith,
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
  type Where,
} from './small-rows.ts';

export type NewCannedResponse = Pick<CannedResponse, 'shortCode' | 'content'>;

/** Canned responses of an account at most. */
const maxResponsesPerAccount = 1000;

const refuseShortCode = uniqueOr422(
  'canned_responses_short_code_unique',
  '/short_code',
  'Another canned response of this account has this short code',
);

/**
 * Returns a page of the account's canned responses, by short code; with `search`, those that contain it in any case: short codes
 * that begin with it first, then those that contain it, then contents.
 */
export function listCannedResponses(
  sql: Sql,
  accountId: number,
  { page, search }: { page: number; search?: string | undefined },
): Promise<Page<CannedResponse>> {
  const pattern = search === undefined ? null : { $ilike: containing(search) };
  const where: Where<CannedResponse> = {
    accountId,
    ...(pattern && { $or: [{ shortCode: pattern }, { content: pattern }] }),
  };
  const byCode = { shortCode: 'asc', id: 'asc' } as const;
  const orderBy = search === undefined ? byCode : [beginningWith('short_code', search.trim()), byCode];
  return listPage(sql, CannedResponse, where, { page, orderBy });
}

/** A canned response of the account. Errors: 404. */
export function readCannedResponse(sql: Sql, accountId: number, id: number): Promise<CannedResponse> {
  return readOne(sql, CannedResponse, { id, accountId });
}

/** Creates a canned response. Errors: 422 for a short code in use, and where there are too many. */
export async function createCannedResponse(tx: Transaction, input: NewCannedResponse): Promise<CannedResponse> {
  await checkRoom(tx, CannedResponse, { most: maxResponsesPerAccount, plural: 'canned responses' });
  return createRow(tx.sql, CannedResponse, {
    ...input,
    accountId: tx.account.id,
    createdAt: tx.now,
    updatedAt: tx.now,
  }).catch(refuseShortCode);
}

/** Changes a canned response. Errors: 404, 422 for a short code in use. */
export async function updateCannedResponse(
  tx: Transaction,
  id: number,
  changes: Partial<NewCannedResponse>,
): Promise<CannedResponse> {
  const response = await lockOne(tx.sql, CannedResponse, { id, accountId: tx.account.id });
  if (update(response, changes, tx.now)) await save(tx.sql, response).catch(refuseShortCode);
  return response;
}

/** Deletes a canned response. Errors: 404. */
export async function deleteCannedResponse(tx: Transaction, id: number): Promise<void> {
  const { accountId } = await lockOne(tx.sql, CannedResponse, { id, accountId: tx.account.id });
  await deleteRows(tx.sql, CannedResponse, { id, accountId });
}
