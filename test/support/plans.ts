import type { Database } from '../../src/postgres/database.ts';
import type { Sql } from '../../src/postgres/sql.ts';

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
  text: string;
  parameters: readonly unknown[];
}

const recordings = new WeakMap<Sql, { statements: Statement[] }>();

/** The same, whose statements `plansOf` and `statementsOf` see. */
export function watched(sql: Sql): Sql {
  const recording = { statements: [] as Statement[] };
  const watching: Sql = (text, parameters = []) => {
    recording.statements.push({ text, parameters });
    return sql(text, parameters);
  };
  recordings.set(watching, recording);
  return watching;
}

async function record(sql: Sql, work: () => Promise<unknown>): Promise<Statement[]> {
  const recording = recordings.get(sql);
  if (!recording) throw new Error('Nobody watches these statements');
  recording.statements = [];
  await work();
  // A copy: explaining the statements records further ones.
  return [...recording.statements];
}

/** The texts of the statements that `work` runs on the executor. */
export async function statementsOf(sql: Sql, work: () => Promise<unknown>): Promise<string[]> {
  return (await record(sql, work)).map((statement) => statement.text);
}

/** Runs `work`, then each of its statements once more with EXPLAIN. */
export async function plansOf(sql: Sql, work: () => Promise<unknown>): Promise<Plan[]> {
  const plans: Plan[] = [];
  for (const { text, parameters } of await record(sql, work)) {
    plans.push(await explain(sql, text, parameters));
  }
  return plans;
}

/** Like plansOf, by the plans that a connection keeps for prepared statements, whatever their parameters. */
export async function genericPlansOf(database: Database, sql: Sql, work: () => Promise<unknown>): Promise<Plan[]> {
  const statements = await record(sql, work);
  return database.transaction(async (inside) => {
    await inside('SET LOCAL plan_cache_mode = force_generic_plan');
    const plans: Plan[] = [];
    for (const { text, parameters } of statements) {
      await inside(`PREPARE probe AS ${text}`);
      plans.push(await explain(inside, `EXECUTE probe (${parameters.map(literal).join(', ')})`, []));
      await inside('DEALLOCATE probe');
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

async function explain(sql: Sql, text: string, parameters: readonly unknown[]): Promise<Plan> {
  const [row] = await sql<{ 'QUERY PLAN': [{ Plan: Step }] }>(
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
