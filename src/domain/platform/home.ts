import type { HoldReason } from '../../lib/outbound-gate.ts';
import type { Sql } from '../../postgres/sql.ts';
import { schemaChannel } from '../../postgres/wake-calls.ts';

/** A database among all databases. */
interface Place {
  /** Made with the server's data, and kept by its standbys; null where the role may not see it. */
  systemIdentifier: string | null;
  /** The number of the database in its server; a copy within the server has another. */
  databaseOid: number;
}

/** Where the installation lives, as it remembers it. */
interface Home extends Place {
  /** The PUBLIC_URL that it last sent with; null if it never had one. */
  publicUrl: string | null;
}

/** The settings of a process that matter for whether it sends. */
export interface SendingSettings {
  outbound: 'on' | 'off';
  /** Null where it is not set; such a process is never taken for a copy for its URL. */
  publicUrl: string | null;
}

/** In what a database and a process differ from the installation's home. */
type Difference = 'server' | 'database' | 'PUBLIC_URL';

/** Whether a process sends, and the home to remember from then on; null where that stays as it is. */
export interface Decision {
  heldFor: HoldReason | null;
  differences: Difference[];
  nextHome: Home | null;
}

/**
 * Decides whether a process sends from a place. A database without a home makes its first place its home; a home without a
 * PUBLIC_URL takes the first one that it sends with. Pure.
 */
export function decideSending(home: Home | null, place: Place, { outbound, publicUrl }: SendingSettings): Decision {
  const differences = home ? differencesOf(home, place, publicUrl) : [];
  if (outbound === 'off') return { heldFor: 'off', differences, nextHome: home ? null : { ...place, publicUrl: null } };
  if (differences.length > 0) return { heldFor: 'copy', differences, nextHome: null };
  const nextHome = home ? completed(home, place, publicUrl) : { ...place, publicUrl };
  return { heldFor: null, differences, nextHome: home && isSame(home, nextHome) ? null : nextHome };
}

function completed(home: Home, place: Place, publicUrl: string | null): Home {
  return {
    systemIdentifier: place.systemIdentifier ?? home.systemIdentifier,
    databaseOid: place.databaseOid,
    publicUrl: publicUrl ?? home.publicUrl,
  };
}

function differencesOf(home: Home, place: Place, publicUrl: string | null): Difference[] {
  const differences: Difference[] = [];
  if (differ(home.systemIdentifier, place.systemIdentifier)) differences.push('server');
  if (home.databaseOid !== place.databaseOid) differences.push('database');
  if (differ(urlOf(home.publicUrl), urlOf(publicUrl))) differences.push('PUBLIC_URL');
  return differences;
}

function differ(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

// Spellings of one address are the same place.
function urlOf(text: string | null): string | null {
  return text === null ? null : (URL.parse(text)?.href.replace(/\/+$/, '') ?? text);
}

function isSame(one: Home, other: Home): boolean {
  return (
    one.systemIdentifier === other.systemIdentifier &&
    one.databaseOid === other.databaseOid &&
    urlOf(one.publicUrl) === urlOf(other.publicUrl)
  );
}

// Another process may keep a home at the same time: then the decision is made anew.
const maxTries = 5;

/** Decides for a process with these settings, and remembers the home where it changes. The database has its sealed word. */
export async function settleSending(sql: Sql, settings: SendingSettings): Promise<Decision> {
  for (let tries = 1; ; tries += 1) {
    const home = await readHome(sql);
    const decision = decideSending(home, await readPlace(sql), settings);
    if (!decision.nextHome || (await replaceHome(sql, home, decision.nextHome))) return decision;
    if (tries === maxTries) throw new Error('The home of the installation changes all the time');
  }
}

/**
 * Makes the place of the database the installation's home, where processes with this PUBLIC_URL send; null: with any. All
 * processes notice with the commit.
 */
export async function adoptHome(sql: Sql, { publicUrl }: Pick<SendingSettings, 'publicUrl'>): Promise<void> {
  await writeHome(sql, 'true', [...valuesOf({ ...(await readPlace(sql)), publicUrl })]);
  await sql(`SELECT pg_notify('${schemaChannel}', '')`);
}

/** True if the installation remembers where it lives, as it does from its first start on. */
export async function hasHome(sql: Sql): Promise<boolean> {
  return (await readHome(sql)) !== null;
}

/** True if a process with this PUBLIC_URL is not where the installation lives, so that it sends nothing. */
export async function isCopy(sql: Sql, publicUrl: string | null): Promise<boolean> {
  const home = await readHome(sql);
  return home !== null && differencesOf(home, await readPlace(sql), publicUrl).length > 0;
}

// A server may hide its identifier; the database that was left must not take that for its own.
const hiddenIdentifier = 'moved to a server that hides its identifier';

/**
 * Makes the place of the database `to`, which has the rows of `from`, the installation's home in both. The first becomes a copy
 * before the second sends; when this is cut short in between, neither sends.
 */
export async function moveHome(from: Sql, to: Sql): Promise<void> {
  const place = await readPlace(to);
  const publicUrl = (await readHome(from))?.publicUrl ?? null;
  const seenFromBefore = { ...place, systemIdentifier: place.systemIdentifier ?? hiddenIdentifier, publicUrl };
  await writeHome(from, 'true', valuesOf(seenFromBefore));
  await adoptHome(to, { publicUrl });
}

interface HomeRow {
  system_identifier: string | null;
  database_oid: number | null;
  public_url: string | null;
}

async function readHome(sql: Sql): Promise<Home | null> {
  const [row] = await sql<HomeRow>('SELECT system_identifier, database_oid, public_url FROM installation');
  if (!row || row.database_oid === null) return null;
  return { systemIdentifier: row.system_identifier, databaseOid: row.database_oid, publicUrl: row.public_url };
}

const placeStatement = `
  SELECT d.oid::bigint AS database_oid, has_function_privilege('pg_control_system()', 'EXECUTE') AS may_identify
  FROM pg_database d WHERE d.datname = current_database()`;

async function readPlace(sql: Sql): Promise<Place> {
  const [row] = await sql<{ database_oid: number; may_identify: boolean }>(placeStatement);
  if (!row) throw new Error('PostgreSQL does not know the database of this connection');
  const { database_oid: databaseOid, may_identify: mayIdentify } = row;
  if (!mayIdentify) return { systemIdentifier: null, databaseOid };
  const [server] = await sql<{ id: string }>('SELECT system_identifier::text AS id FROM pg_control_system()');
  return { systemIdentifier: server?.id ?? null, databaseOid };
}

async function replaceHome(sql: Sql, before: Home | null, next: Home): Promise<boolean> {
  const isUnchanged =
    '(system_identifier, database_oid, public_url) IS NOT DISTINCT FROM ($4::text, $5::bigint, $6::text)';
  return writeHome(sql, isUnchanged, [...valuesOf(next), ...valuesOf(before)]);
}

async function writeHome(sql: Sql, condition: string, values: readonly unknown[]): Promise<boolean> {
  const statement = `
    UPDATE installation SET system_identifier = $1, database_oid = $2, public_url = $3 WHERE ${condition} RETURNING id`;
  return (await sql(statement, values)).length > 0;
}

function valuesOf(home: Home | null): unknown[] {
  return home ? [home.systemIdentifier, home.databaseOid, home.publicUrl] : [null, null, null];
}
