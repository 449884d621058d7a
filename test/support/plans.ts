import type { EntityManager } from '@mikro-orm/postgresql';
import { sql, type Executor } from '../../src/postgres/sql.ts';

/** A node of a plan, as EXPLAIN (FORMAT JSON) prints it. */
interface Step {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Heap Fetches'?: number;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Total Cost': number;
  Plans?: Step[];
}

/** How the database executed a statement. */
export interface Plan {
  steps: Step[];
  /** The planner's cost estimate. */
  cost: number;
  /** Rows and index entries read, including those that a filter dropped. */
  rows: number;
  /** Blocks of tables and indexes read. */
  blocks: number;
}

interface Statement {
  sql: string;
  parameters: readonly unknown[];
}

async function record(executor: EntityManager, work: () => Promise<unknown>): Promise<Statement[]> {
  const kysely = executor.getKysely();
  const statements: Statement[] = [];
  const recording: Pick<ReturnType<EntityManager['getKysely']>, 'executeQuery'> = {
    executeQuery: (query) => {
      statements.push(query as Statement);
      return kysely.executeQuery(query);
    },
  };
  const unwatched = Object.getOwnPropertyDescriptor(executor, 'getKysely');
  Object.defineProperty(executor, 'getKysely', { configurable: true, value: () => recording });
  try {
    await work();
  } finally {
    if (unwatched) Object.defineProperty(executor, 'getKysely', unwatched);
    else Reflect.deleteProperty(executor, 'getKysely');
  }
  return statements;
}

/** The texts of the statements that `work` runs on the executor. */
export async function statementsOf(executor: EntityManager, work: () => Promise<unknown>): Promise<string[]> {
  return (await record(executor, work)).map((statement) => statement.sql);
}

/** Runs `work`, then each of its statements once more with EXPLAIN. */
export async function plansOf(executor: EntityManager, work: () => Promise<unknown>): Promise<Plan[]> {
  const plans: Plan[] = [];
  for (const { sql: text, parameters } of await record(executor, work)) {
    plans.push(await explain(executor, text, parameters));
  }
  return plans;
}

/** Like plansOf, by the plans that a connection keeps for prepared statements, whatever their parameters. */
export async function genericPlansOf(em: EntityManager, work: () => Promise<unknown>): Promise<Plan[]> {
  const statements = await record(em, work);
  return em.transactional(async (inside) => {
    await sql(inside, 'SET LOCAL plan_cache_mode = force_generic_plan');
    const plans: Plan[] = [];
    for (const { sql: text, parameters } of statements) {
      await sql(inside, `PREPARE probe AS ${text}`);
      plans.push(await explain(inside, `EXECUTE probe (${parameters.map(literal).join(', ')})`, []));
      await sql(inside, 'DEALLOCATE probe');
    }
    return plans;
  });
}

function literal(value: unknown): string {
  if (value instanceof Date) return `'${value.toISOString()}'`;
  return Array.isArray(value) ? `'{${value.join(',')}}'` : `'${String(value)}'`;
}

/** The names of the indexes that the plan reads. */
export function indexesOf({ steps }: Plan): string[] {
  return steps.flatMap((step) => step['Index Name'] ?? []);
}

/** The names of the tables that the plan scans sequentially. */
export function scannedTables({ steps }: Plan): string[] {
  return steps.filter((step) => step['Node Type'].endsWith('Seq Scan')).map((step) => step['Relation Name'] ?? '');
}

async function explain(executor: Executor, text: string, parameters: readonly unknown[]): Promise<Plan> {
  const [row] = await sql<{ 'QUERY PLAN': [{ Plan: Step }] }>(
    executor,
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
    parameters,
  );
  const { Plan: last } = row!['QUERY PLAN'][0];
  const steps = flatten(last);
  return {
    steps,
    cost: last['Total Cost'],
    rows: steps.filter((step) => step['Node Type'].includes('Scan')).reduce((sum, step) => sum + rowsRead(step), 0),
    blocks: last['Shared Hit Blocks'] + last['Shared Read Blocks'],
  };
}

function flatten(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(flatten)];
}

function rowsRead(step: Step): number {
  return step['Actual Loops'] * (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0));
}
