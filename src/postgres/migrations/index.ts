import { OperatorError } from '../../lib/operator-error.ts';
import type { Sql } from '../sql.ts';
import { FirstSchema } from './20261120-first-schema.ts';
import { Release020 } from './20261124-0.2.0.ts';

/** All migrations in order, by the names under which they are recorded. */
export const migrations = [
  { name: '20261120-first-schema', class: FirstSchema },
  { name: '20261124-0.2.0', class: Release020 },
];

/** The names of the applied migrations; none for an empty database. */
export async function appliedMigrations(sql: Sql): Promise<string[]> {
  const [known] = await sql<{ table: string | null }>(`SELECT to_regclass('migrations')::text AS "table"`);
  if (!known?.table) return [];
  return (await sql<{ name: string }>('SELECT name FROM migrations ORDER BY id')).map(({ name }) => name);
}

/** The applied migrations that neither this release nor `wanted` has: a newer release has made them. */
export function unknownAmong(applied: readonly string[], wanted = migrations): string[] {
  const known = new Set([...migrations, ...wanted].map(({ name }) => name));
  return applied.filter((name) => !known.has(name));
}

/** Throws OperatorError if a newer release has migrated the database, or a development version between two releases. */
export function refuseUnknown(applied: readonly string[], wanted = migrations): void {
  const unknown = unknownAmong(applied, wanted);
  if (unknown.length === 0) return;
  const newest = migrations.at(-1)?.name ?? '';
  const between = unknown.find((name) => name < newest);
  if (between !== undefined) {
    throw new OperatorError(
      `This database was migrated by a development version that was never released (migration ${between}), and cannot be ` +
        'upgraded. Start with an empty database, or restore a backup of a release.',
    );
  }
  throw new OperatorError(
    `This database was migrated by a newer release: this one does not know the migration ${unknown.at(-1)}. Start that ` +
      'release, or restore a backup from before the upgrade.',
  );
}

/** True if all migrations were applied; false for an empty database. Throws OperatorError as refuseUnknown does. */
export async function isMigrated(sql: Sql): Promise<boolean> {
  const applied = await appliedMigrations(sql);
  refuseUnknown(applied);
  return migrations.every(({ name }) => applied.includes(name));
}
