import {
  ControlledTransaction,
  DefaultQueryExecutor,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  PostgresQueryCompiler,
  SingleConnectionProvider,
  type CompiledQuery,
  type QueryResult,
} from 'kysely';
import type { Pool } from 'pg';
import type { SqlTransaction } from './sql-transaction.ts';

const writing = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** A transaction as MikroORM knows it, whose statements and savepoints are those of `transaction`; it cannot end it. */
export function ormContext(pool: Pool, transaction: SqlTransaction): ControlledTransaction<unknown> {
  const connection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const { tag, rows } = await transaction.execute(sql, parameters);
      const [command = '', ...counts] = tag.split(' ');
      const affected = writing.has(command) ? { numAffectedRows: BigInt(counts.at(-1) ?? 0) } : {};
      return { ...affected, rows: rows as Row[] };
    },
    streamQuery(): never {
      throw new Error('Statements of a transaction are not streamed');
    },
  };
  const dialect = new PostgresDialect({ pool });
  return new ControlledTransaction({
    config: { dialect },
    dialect,
    driver: new PostgresDriver({ pool }),
    executor: new DefaultQueryExecutor(
      new PostgresQueryCompiler(),
      new PostgresAdapter(),
      new SingleConnectionProvider(connection),
    ),
    connection: { connection, release: () => undefined },
  });
}
