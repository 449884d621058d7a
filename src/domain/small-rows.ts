import { LockMode } from '@mikro-orm/postgresql';
import type { EntityClass, EntityManager, FilterQuery, FindOptions } from '@mikro-orm/postgresql';
import { invalid, notFound } from '../errors.ts';
import type { ChangedAttributes } from '../events/catalog.ts';
import { brokenUniqueConstraint } from '../postgres/errors.ts';
import { change, type NewValues } from './changes.ts';

/** A class of rows, and the noun by which error messages name one of them. */
type Kind<Row> = EntityClass<Row> & { readonly noun: string };
type Where<Row> = FilterQuery<NoInfer<Row>>;

/** A page of a list, counted from 1; `count` is how many rows there are on all pages. */
export type Page<Row> = { rows: Row[]; count: number; page: number; perPage: number };

const smallPage = 25;

/** The row that `where` names, and the tenant with it. Errors: 404. */
export async function readOne<Row extends object>(em: EntityManager, kind: Kind<Row>, where: Where<Row>): Promise<Row> {
  const row = await em.findOne<Row>(kind, where);
  if (!row) throw notFound(kind.noun);
  return row;
}

/** The row or null; nobody else changes it, deletes it or comes to refer to it until the transaction ends. */
export function lockIfThere<Row extends object>(
  em: EntityManager,
  kind: Kind<Row>,
  where: Where<Row>,
): Promise<Row | null> {
  // Refreshed: the row may have changed since the entity manager read it without a lock.
  return em.findOne<Row>(kind, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** Like lockIfThere. Errors: 404. */
export async function lockOne<Row extends object>(em: EntityManager, kind: Kind<Row>, where: Where<Row>): Promise<Row> {
  const row = await lockIfThere(em, kind, where);
  if (!row) throw notFound(kind.noun);
  return row;
}

/** A page of the rows that `where` names. */
export async function listPage<Row extends object>(
  em: EntityManager,
  kind: Kind<Row>,
  where: Where<Row>,
  { page, orderBy }: { page: number; orderBy: NonNullable<FindOptions<Row>['orderBy']> },
): Promise<Page<Row>> {
  const window = { limit: smallPage, offset: (page - 1) * smallPage };
  const [rows, count] = await em.findAndCount<Row>(kind, where, { orderBy, ...window });
  return { rows, count, page, perPage: smallPage };
}

/** Throws 422 when the account has as many rows of the kind as it may; `plural` names them. */
export async function checkRoom<Row extends { accountId: number }>(
  { em, account }: { em: EntityManager; account: { id: number } },
  kind: Kind<Row>,
  { most, plural }: { most: number; plural: string },
): Promise<void> {
  if ((await em.count<Row>(kind, { accountId: account.id } as FilterQuery<Row>)) < most) return;
  throw invalid('', 'limit', `An account can have at most ${most} ${plural}`);
}

/** Gives a row new values, as `change` does, and dates the change when there is one; the flush writes it. */
export function update<Row extends { updatedAt: Date }>(
  row: Row,
  values: NewValues<Row>,
  now: Date,
): ChangedAttributes | null {
  const changed = change(row, values);
  if (changed) row.updatedAt = now;
  return changed;
}

/** For `flush().catch(…)`: makes a violation of that unique constraint a 422 at `pointer`, and throws all else as it is. */
export function uniqueOr422(constraint: string, pointer: string, message: string): (error: unknown) => never {
  return (error) => {
    throw brokenUniqueConstraint(error) === constraint ? invalid(pointer, 'unique', message) : error;
  };
}
