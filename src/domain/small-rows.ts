import { LockMode, MikroORM, raw } from '@mikro-orm/postgresql';
import type { EntityClass, EntityManager, FilterQuery, FindOptions, RequiredEntityData } from '@mikro-orm/postgresql';
import { invalid, notFound } from '../errors.ts';
import type { ChangedAttributes } from '../events/catalog.ts';
import { brokenUniqueConstraint } from '../postgres/errors.ts';
import type { Sql } from '../postgres/sql.ts';
import { entities } from '../records/entities.ts';
import { change, type NewValues } from './changes.ts';

/** An entity class, with the noun that error messages use for a row. */
type Kind<Row> = EntityClass<Row> & { readonly noun: string };
/** Conditions on columns that rows of the kind must meet. */
export type Where<Row> = FilterQuery<NoInfer<Row>>;
type Order<Row> = NonNullable<FindOptions<Row>['orderBy']>;

/** A page of a list; pages count from 1, `count` is the number of rows on all pages. */
export type Page<Row> = { rows: Row[]; count: number; page: number; perPage: number };

const smallPage = 25;
/** Bytes of texts on a page. */
const maxPageBytes = 2 * 1024 * 1024;

/** Returns the rows on each page of a list by the bytes of its longest row: 25, or fewer if those would be too large. */
export function rowsPerPage(longestBytes: number): number {
  return Math.max(1, Math.min(smallPage, Math.floor(maxPageBytes / Math.max(1, longestBytes))));
}

/** Returns the row that `where` selects; null when there is none. */
export async function findRow<Row extends object>(
  sql: Sql,
  kind: EntityClass<Row>,
  where: Where<Row>,
  options: { orderBy?: Order<Row> } = {},
): Promise<Row | null> {
  const em = managerOf(sql);
  return tracked(sql, em, await em.findOne<Row>(kind, where, options));
}

/** Returns the rows that `where` selects. */
export async function findRows<Row extends object>(
  sql: Sql,
  kind: EntityClass<Row>,
  where: Where<Row>,
  options: { orderBy?: Order<Row>; limit?: number } = {},
): Promise<Row[]> {
  const em = managerOf(sql);
  const rows = await em.find<Row>(kind, where, options);
  for (const row of rows) tracked(sql, em, row);
  return rows;
}

/** Returns the number of rows that `where` selects. */
export function countRows<Row extends object>(sql: Sql, kind: EntityClass<Row>, where: Where<Row>): Promise<number> {
  return managerOf(sql).count<Row>(kind, where);
}

/** Returns the row that `where` selects; `where` must include the tenant. Errors: 404. */
export async function readOne<Row extends object>(sql: Sql, kind: Kind<Row>, where: Where<Row>): Promise<Row> {
  const row = await findRow<Row>(sql, kind, where);
  if (!row) throw notFound(kind.noun);
  return row;
}

/** Reads and locks a row (FOR UPDATE, or FOR SHARE) until the transaction ends; null when there is none. */
export async function lockIfThere<Row extends object>(
  sql: Sql,
  kind: EntityClass<Row>,
  where: Where<Row>,
  { shared = false } = {},
): Promise<Row | null> {
  const em = managerOf(sql);
  const lockMode = shared ? LockMode.PESSIMISTIC_READ : LockMode.PESSIMISTIC_WRITE;
  return tracked(sql, em, await em.findOne<Row>(kind, where, { lockMode }));
}

/** Like lockIfThere. Errors: 404. */
export async function lockOne<Row extends object>(sql: Sql, kind: Kind<Row>, where: Where<Row>): Promise<Row> {
  const row = await lockIfThere<Row>(sql, kind, where);
  if (!row) throw notFound(kind.noun);
  return row;
}

/** Returns one page of the rows that `where` selects. */
export async function listPage<Row extends object>(
  sql: Sql,
  kind: EntityClass<Row>,
  where: Where<Row>,
  { page, perPage = smallPage, orderBy }: { page: number; perPage?: number; orderBy: Order<Row> },
): Promise<Page<Row>> {
  const window = { limit: perPage, offset: (page - 1) * perPage };
  const [rows, count] = await managerOf(sql).findAndCount<Row>(kind, where, { orderBy, ...window });
  return { rows, count, page, perPage };
}

/** Checks that the account has fewer rows of the kind than `most`; `plural` names them in the message. Errors: 422. */
export async function checkRoom<Row extends { accountId: number }>(
  { sql, account }: { sql: Sql; account: { id: number } },
  kind: EntityClass<Row>,
  { most, plural }: { most: number; plural: string },
): Promise<void> {
  if ((await countRows<Row>(sql, kind, { accountId: account.id } as FilterQuery<Row>)) < most) return;
  throw invalid('', 'limit', `An account can have at most ${most} ${plural}`);
}

/** Inserts a row; it has its id and defaults from then on. */
export async function createRow<Row extends object>(
  sql: Sql,
  kind: EntityClass<Row>,
  values: RequiredEntityData<Row>,
): Promise<Row> {
  const em = managerOf(sql);
  const row = em.create<Row>(kind, values);
  await em.flush();
  return tracked(sql, em, row);
}

/** Writes the changes of a row that was read or created in the same transaction. */
export async function save(sql: Sql, row: object): Promise<void> {
  const manager = managers.get(row);
  if (manager?.sql !== sql) throw new Error('The row was not read in this transaction');
  await manager.em.flush();
}

/** Changes the rows that `where` selects; returns their number. */
export function updateRows<Row extends object>(
  sql: Sql,
  kind: EntityClass<Row>,
  where: Where<Row>,
  values: Partial<NoInfer<Row>>,
): Promise<number> {
  return managerOf(counting(sql)).nativeUpdate<Row>(kind, where, values);
}

/** Deletes the rows that `where` selects; returns their number. */
export function deleteRows<Row extends object>(sql: Sql, kind: EntityClass<Row>, where: Where<Row>): Promise<number> {
  return managerOf(counting(sql)).nativeDelete<Row>(kind, where);
}

/** Assigns new values as `change` does, and dates the row when something changed; `save` writes it. */
export function update<Row extends { updatedAt: Date }>(
  row: Row,
  values: NewValues<Row>,
  now: Date,
): ChangedAttributes | null {
  const changed = change(row, values);
  if (changed) row.updatedAt = now;
  return changed;
}

/** For `createRow(…).catch(…)` and `save(…).catch(…)`: throws 422 at `pointer` for the unique constraint, else the same error. */
export function uniqueOr422(constraint: string, pointer: string, message: string): (error: unknown) => never {
  return (error) => {
    throw brokenUniqueConstraint(error) === constraint ? invalid(pointer, 'unique', message) : error;
  };
}

/**
 * Returns an order of a search: rows whose column begins with the text in any case, then those that contain it, then the
 * others. It stands in an `orderBy` that is a list.
 */
export function beginningWith(column: string, text: string): Record<symbol, 'asc'> {
  // As hexadecimal digits: the mapper takes question marks in a value of an ORDER BY for further parameters.
  const hex = Buffer.from(text).toString('hex');
  const wanted = "lower(convert_from(decode(?, 'hex'), 'UTF8'))";
  const rank = (alias: string): string =>
    `CASE position(${wanted} in lower(${alias}.${column})) WHEN 1 THEN 0 WHEN 0 THEN 2 ELSE 1 END`;
  return { [raw(rank, [hex])]: 'asc' };
}

let orm: MikroORM | null = null;
const managers = new WeakMap<object, { em: EntityManager; sql: Sql }>();

// MikroORM connects to nothing: it makes statements of the entities, and entities of the rows that `sql` returns. Each call has
// a manager with an empty identity map, so that it reads the rows as they are, and rolled-back changes are in no manager.
function managerOf(sql: Sql): EntityManager {
  orm ??= new MikroORM({
    entities: [...entities],
    clientUrl: 'postgresql://none.invalid/none',
    // Else the first statement of a process that has migrated asks that server whether its database exists.
    ensureDatabase: false,
    preferReadReplicas: false,
    validateRequired: false,
    debug: false,
    forceUtcTimezone: true,
  });
  const em = orm.em.fork();
  em.setTransactionContext({
    async executeQuery(query: { sql: string }) {
      const rows = await sql(query.sql);
      return { rows, numAffectedRows: BigInt(rows.length) };
    },
  });
  return em;
}

// A statement that changes rows and returns none carries no number of rows.
function counting(sql: Sql): Sql {
  return (text, parameters) => sql(`${text} RETURNING 1`, parameters);
}

function tracked<Found extends object | null>(sql: Sql, em: EntityManager, row: Found): Found {
  if (row) managers.set(row, { em, sql });
  return row;
}
