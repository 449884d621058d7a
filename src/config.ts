import { readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import schema from '../schemas/config.json' with { type: 'json' };
import type { Settings } from '../schemas/types.ts';
import { explainSetting, type Setting } from './fault-sentences.ts';
import { parseCidr } from './outbound/addresses.ts';
import { databaseUrlProblem } from './postgres/database-url.ts';
import { OperatorError } from './lib/operator-error.ts';
import { readPublicKey } from './lib/secrets/public-key.ts';
import { readOrCreateSecretFile, readSecretFile } from './lib/secrets/secret-file.ts';

/**
 * The settings of the service, read once from the environment (schemas/config.json describes them), and the limits that are no
 * settings; frozen.
 */
export interface Config extends Settings, Limits {}

/** Thrown for invalid settings. The message lists every problem and contains no secret value. */
export class ConfigError extends OperatorError {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Limits that no installation has had to set. Services of tests have others. */
const limits = {
  /** Passages whose embeddings are asked for at once. */
  llmEmbeddingBatch: 32,
  /** Accounts whose passages a process has embedded at the same time. */
  llmEmbeddingInFlight: 4,
  /** Largest answer with embeddings, in bytes. */
  llmEmbeddingMaxBytes: 4_194_304,
  /** How long a search waits for the embedding of its question, in milliseconds; then it finds by words alone. */
  llmEmbeddingQueryMs: 1000,
  /** First pause after a failure to embed passages, in milliseconds; it doubles with each further failure, up to an hour. */
  llmEmbeddingRetryMs: 10_000,
  /**
   * How often within a day all passages of an account are embedded anew because its model, of the same name, answers vectors of
   * another length; after that the account's `embeddings` fail until the day is over, or its `llm` is set.
   */
  llmEmbeddingChanges: 3,
  /** Passages of an account whose embeddings a search compares: of more, those of the articles that were changed last. */
  llmEmbeddingPassages: 50_000,
  /** Passwords that a process compares at the same time, each in 32 MB and one of Node's four threads. */
  passwordsInFlight: 2,
  /** Passwords that wait for it; further ones are refused (503). */
  passwordQueue: 40,
  /** Forms with files of one account that a process has in memory; of several, one is left to its agents. */
  uploadsPerAccount: 5,
  /** Forms with files of widgets and of clients of inboxes, in all accounts together. */
  uploadsOfVisitors: 6,
  /** Forms with files of widgets and clients from one address. */
  uploadsPerAddress: 2,
  /** Longest time in which nothing of a form with files arrives, in milliseconds; then it is answered with 408. */
  uploadStallMs: 15_000,
  /** Forms with files that arrive more slowly are ended while others wait for their place (503), the slowest first. */
  uploadBytesPerSecond: 131_072,
  /** Requested deliveries (resends, recoveries, tests) of a process at the same time, beside the live ones. */
  engineResentInFlight: 64,
  /** Requested deliveries to one endpoint at the same time. */
  endpointResentInFlight: 4,
  /** Number of processes that repeat recorded runs; they are started when somebody asks, and end when nobody does. */
  replayRunners: 1,
  /** Highest number of repetitions of runs that wait for such a process; further ones are refused (503). */
  replayQueue: 20,
  /** Bytes of all articles of an imported archive together at most. */
  articleImportUnpackedBytes: 33_554_432,
  /** Articles of an imported file, or entries of an archive, at most. */
  articleImportEntries: 10_000,
  /** Longest time that one invariant of the ledger (`GET /platform/api/v1/ledger`) takes to check, in milliseconds. */
  ledgerTimeoutMs: 60_000,
  /** Interval at which each process looks whether plugins have changed, in milliseconds, beside the announcements of others. */
  pluginPollMs: 20_000,
  /** Code of plugins that a process keeps in memory, in bytes; other code is read from the database when it runs. */
  pluginCacheBytes: 16_777_216,
  /** Longest request to the object store, in milliseconds; there are two at most for each file. */
  attachmentS3TimeoutMs: 10_000,
  /** Largest answer of a model server, in bytes. */
  llmMaxBytes: 1_048_576,
  /** Chosen `source_id`s that may be guesses, per minute, for clients of one inbox at one address in each process; 0 = no limit. */
  clientGuessesPerMinute: 30,
};
type Limits = Readonly<typeof limits>;

type Environment = Readonly<Record<string, string | undefined>>;
type Values = Record<string, unknown>;

const settings: Readonly<Record<string, Setting>> = schema.properties;
const ajv = new Ajv2020({ allErrors: true, strict: false, verbose: true, validateSchema: false });
const validate = ajv.compile<Values>(schema);
const projectFolder = fileURLToPath(new URL('..', import.meta.url));
/** Whether this is a package that somebody has installed. */
export const isInstalled = projectFolder.split(sep).includes('node_modules');
// The folder of an installed package is emptied by the next `npm ci`.
const homeFolder = isInstalled ? process.cwd() : projectFolder;
/** The default of DATA_DIR. */
export const defaultDataDir = resolve(homeFolder, schema.properties.DATA_DIR.default);
/** The limits of archives where nothing else is set. */
export const defaultArchiveBounds = {
  unpackedBytes: schema.properties.PLUGIN_UNPACKED_BYTES.default,
  entries: schema.properties.PLUGIN_ENTRIES.default,
};
/** Bytes of the largest archive of a plugin that any service can be set to take. */
export const largestArchiveBytes = schema.properties.PLUGIN_ARCHIVE_BYTES.maximum;
const minKeyLength = schema.properties.SECRET_KEY.minLength;

/**
 * Reads and validates the settings. With the embedded database, the first call creates the secret key in DATA_DIR.
 * Throws ConfigError with all problems.
 */
export function loadConfig(env: Environment = process.env): Config {
  const problems: string[] = [];
  const given = readGiven(env, problems);
  if (!validate(given)) problems.push(...(validate.errors ?? []).map((error) => explainSetting(error, settings)));
  const values = withDefaults(given);
  problems.push(...findContradictions(values, given));
  if (problems.length === 0) values['SECRET_KEY'] ??= findSecretKey(values, problems);
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
  const entries = Object.keys(settings).map((name) => [camelCase(name), values[name] ?? null]);
  return Object.freeze({ ...limits, ...(Object.fromEntries(entries) as Settings) });
}

/** PLUGIN_DIRS where it is set, for commands that need no other setting; absolute paths. */
export function pluginDirsIn(env: Environment = process.env): string[] {
  const given = readText(env, 'PLUGIN_DIRS', []);
  return given ? given.split(',').map((path) => resolve(path.trim())) : [];
}

/** DATA_DIR, for commands that need no other setting; an absolute path. */
export function dataDirOf(env: Environment = process.env): string {
  const given = readText(env, 'DATA_DIR', []);
  return given ? resolve(given) : defaultDataDir;
}

/** SWITCHBOARD_URL and SWITCHBOARD_TOKEN, by which commands find the service; undefined where they are not set. */
export function serviceIn(env: Environment = process.env): { url: string | undefined; token: string | undefined } {
  return { url: env['SWITCHBOARD_URL'] || undefined, token: readText(env, 'SWITCHBOARD_TOKEN', []) || undefined };
}

/** CHATWOOT_TOKEN, the token of the account that is imported, which so stands in no list of processes; undefined where it is not set. */
export function chatwootTokenIn(env: Environment = process.env): string | undefined {
  return readText(env, 'CHATWOOT_TOKEN', []) || undefined;
}

/** MOVE_TO_DATABASE_URL, the database that `move` fills, which so stands in no list of processes; undefined where it is not set. */
export function moveTargetIn(env: Environment = process.env): string | undefined {
  return readText(env, 'MOVE_TO_DATABASE_URL', []) || undefined;
}

/** Whether DATABASE_URL is set, or the file that has it: commands act on that database, and not on the one of DATA_DIR. */
export function hasDatabaseUrl(env: Environment = process.env): boolean {
  return Boolean(env['DATABASE_URL'] || env['DATABASE_URL_FILE']);
}

/** The values of the variables that are set, converted to the types of the schema; unconvertible texts stay texts. */
function readGiven(env: Environment, problems: string[]): Values {
  const given: Values = {};
  for (const [name, setting] of Object.entries(settings)) {
    const text = readText(env, name, problems);
    if (text) given[name] = interpret(text, setting);
  }
  return given;
}

function readText(env: Environment, name: string, problems: string[]): string | undefined {
  const text = env[name];
  const file = env[`${name}_FILE`];
  if (!file) return text;
  if (text) problems.push(`${name} and ${name}_FILE are both set: keep one of them`);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    problems.push(`${name}_FILE cannot be read: ${(error as Error).message}`);
    return undefined;
  }
}

function interpret(text: string, { type }: Setting): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean') return booleanWords.get(text.toLowerCase()) ?? text;
  if (type === 'array') return text.split(',').map((item) => item.trim());
  return text;
}

const booleanWords = new Map<string, unknown>(Object.entries({ true: true, 1: true, false: false, 0: false }));

function withDefaults(given: Values): Values {
  const values: Values = {};
  for (const [name, setting] of Object.entries(settings)) values[name] = given[name] ?? setting.default;
  values['DEMO'] ??= given['DATABASE_URL'] === undefined;
  // A given path is relative to the working directory, the default to the project's folder.
  values['DATA_DIR'] = resolve(given['DATA_DIR'] ? '' : homeFolder, String(values['DATA_DIR']));
  if (given['PLUGIN_DIRS']) values['PLUGIN_DIRS'] = (values['PLUGIN_DIRS'] as string[]).map((path) => resolve(path));
  Object.freeze(values['OUTBOUND_ALLOW_CIDRS']);
  return values;
}

/** Checks that a JSON Schema cannot express. */
function findContradictions(values: Values, given: Values): string[] {
  const ranges = Array.isArray(given['OUTBOUND_ALLOW_CIDRS']) ? (given['OUTBOUND_ALLOW_CIDRS'] as string[]) : [];
  const problems = ranges
    .filter((range) => parseCidr(range) === null)
    .map((range) => `OUTBOUND_ALLOW_CIDRS: "${range}" is not an address range like 10.0.0.0/8`);
  problems.push(...findKeyProblems(given));
  problems.push(...findUrlProblems(given));
  if (Number(values['DATABASE_POOL_ENGINE'] ?? 0) >= Number(values['DATABASE_POOL_MAX'])) {
    problems.push('DATABASE_POOL_ENGINE must be less than DATABASE_POOL_MAX, or requests have no connection');
  }
  if (Number(values['LEASE_SECONDS']) * 1000 <= Number(values['WEBHOOK_TIMEOUT_MS'])) {
    problems.push('LEASE_SECONDS must be longer than WEBHOOK_TIMEOUT_MS, or deliveries under way are made twice');
  }
  if (Number(values['ATTACHMENT_FORM_BYTES']) < Number(values['ATTACHMENT_BYTES']))
    problems.push('ATTACHMENT_FORM_BYTES must be at least ATTACHMENT_BYTES, or no form can have such a file');
  if (Number(given['RUN_RETENTION_DAYS'] ?? 0) > Number(values['RETENTION_DAYS'])) {
    problems.push('RUN_RETENTION_DAYS must be at most RETENTION_DAYS: a run is deleted with its event');
  }
  return problems;
}

function findUrlProblems({ DATABASE_URL: url }: Values): string[] {
  const problem = typeof url === 'string' ? databaseUrlProblem(url) : null;
  return problem === null ? [] : [`DATABASE_URL ${problem}`];
}

function findKeyProblems(given: Values): string[] {
  const keys = Array.isArray(given['PLUGIN_TRUSTED_KEYS']) ? (given['PLUGIN_TRUSTED_KEYS'] as string[]) : [];
  const problems = keys
    .filter((key) => readPublicKey(key) === null)
    .map((key) => `PLUGIN_TRUSTED_KEYS: "${key}" is not a public key of Ed25519 in base64`);
  if (given['PLUGIN_SIGNATURES'] === 'require' && keys.length === 0)
    problems.push('PLUGIN_SIGNATURES=require needs PLUGIN_TRUSTED_KEYS, or no plugin can be installed');
  return problems;
}

function findSecretKey(values: Values, problems: string[]): string | null {
  const file = join(String(values['DATA_DIR']), 'secret-key');
  const isEmbedded = values['DATABASE_URL'] === undefined;
  try {
    const key = isEmbedded ? readOrCreateSecretFile(file) : readSecretFile(file);
    if (key && key.length >= minKeyLength) return key;
    if (key === null) problems.push(`SECRET_KEY is needed with DATABASE_URL, at least ${minKeyLength} characters`);
    else problems.push(`${file} must hold at least ${minKeyLength} characters`);
  } catch (error) {
    problems.push(`DATA_DIR cannot be used: ${(error as Error).message}`);
  }
  return null;
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
