import { LockMode } from '@mikro-orm/postgresql';
import type { EntityClass, EntityManager, FilterQuery, FindOptions } from '@mikro-orm/postgresql';
import { invalid, notFound } from '../errors.ts';
import type { ChangedAttributes } from '../events/catalog.ts';
import { brokenUniqueConstraint } from '../postgres/errors.ts';
import { change, type NewValues } from './changes.ts';

/** An entity class, with the noun by which error messages name a row of it. */
type Kind<Row> = EntityClass<Row> & { readonly noun: string };
type Where<Row> = FilterQuery<NoInfer<Row>>;

/** A page of a list; pages count from 1, `count` is the number of rows on all pages. */
export type Page<Row> = { rows: Row[]; count: number; page: number; perPage: number };

const smallPage = 25;
/** Bytes of texts on a page. */
const maxPageBytes = 2 * 1024 * 1024;

/** Rows on each page of a list whose longest row has so many bytes: fewer than usual where 25 of those are too much. */
export function rowsPerPage(longestBytes: number): number {
  return Math.max(1, Math.min(smallPage, Math.floor(maxPageBytes / Math.max(1, longestBytes))));
}

/** The row that `where` selects; `where` must include the tenant. Errors: 404. */
export async function readOne<Row extends object>(em: EntityManager, kind: Kind<Row>, where: Where<Row>): Promise<Row> {
  const row = await em.findOne<Row>(kind, where);
  if (!row) throw notFound(kind.noun);
  return row;
}

/** Reads and locks a row (FOR UPDATE) until the transaction ends; null when there is none. */
export function lockIfThere<Row extends object>(
  em: EntityManager,
  kind: Kind<Row>,
  where: Where<Row>,
): Promise<Row | null> {
  // Refreshed, because the entity manager may have read the row earlier, without a lock.
  return em.findOne<Row>(kind, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** Like lockIfThere. Errors: 404. */
export async function lockOne<Row extends object>(em: EntityManager, kind: Kind<Row>, where: Where<Row>): Promise<Row> {
  const row = await lockIfThere(em, kind, where);
  if (!row) throw notFound(kind.noun);
  return row;
}

/** One page of the rows that `where` selects. */
export async function listPage<Row extends object>(
  em: EntityManager,
  kind: Kind<Row>,
  where: Where<Row>,
  {
    page,
    perPage = smallPage,
    orderBy,
  }: { page: number; perPage?: number; orderBy: NonNullable<FindOptions<Row>['orderBy']> },
): Promise<Page<Row>> {
  const window = { limit: perPage, offset: (page - 1) * perPage };
  const [rows, count] = await em.findAndCount<Row>(kind, where, { orderBy, ...window });
  return { rows, count, page, perPage };
}

/** Checks that the account has fewer rows of the kind than `most`; `plural` names them in the message. Errors: 422. */
export async function checkRoom<Row extends { accountId: number }>(
  { em, account }: { em: EntityManager; account: { id: number } },
  kind: Kind<Row>,
  { most, plural }: { most: number; plural: string },
): Promise<void> {
  if ((await em.count<Row>(kind, { accountId: account.id } as FilterQuery<Row>)) < most) return;
  throw invalid('', 'limit', `An account can have at most ${most} ${plural}`);
}

/** Assigns new values as `change` does, and dates the row when something changed; the next flush writes it. */
export function update<Row extends { updatedAt: Date }>(
  row: Row,
  values: NewValues<Row>,
  now: Date,
): ChangedAttributes | null {
  const changed = change(row, values);
  if (changed) row.updatedAt = now;
  return changed;
}

/** For `flush().catch(…)`: turns a violation of that unique constraint into a 422 at `pointer`; rethrows other errors. */
export function uniqueOr422(constraint: string, pointer: string, message: string): (error: unknown) => never {
  return (error) => {
    throw brokenUniqueConstraint(error) === constraint ? invalid(pointer, 'unique', message) : error;
  };
}
