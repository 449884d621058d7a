import { readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import schema from '../schemas/config.json' with { type: 'json' };
import { explainSetting, type Setting } from './fault-sentences.ts';
import { parseCidr } from './outbound/addresses.ts';
import { databaseUrlProblem } from './postgres/database-url.ts';
import { OperatorError } from './lib/operator-error.ts';
import { readPublicKey } from './lib/secrets/public-key.ts';
import { readOrCreateSecretFile, readSecretFile } from './lib/secrets/secret-file.ts';

/** The settings of the service, read once from the environment and frozen; schemas/config.json describes them. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Null = the embedded database. Contains a password. */
  readonly databaseUrl: string | null;
  /** An absolute path. */
  readonly dataDir: string;
  /** Null = a token is generated. */
  readonly bootstrapAdminToken: string | null;
  readonly demo: boolean;
  readonly role: 'all' | 'web' | 'engine';
  readonly outboundAllowCidrs: readonly string[];
  readonly rateLimitPerMinute: number;
  readonly trustedProxies: number;
  readonly widgetSessionsPerMinute: number;
  readonly widgetBytesPerMinute: number;
  readonly clientGuessesPerMinute: number;
  readonly signInHours: number;
  readonly signInsPerMinute: number;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly secretKey: string;
  readonly bodyLimitBytes: number;
  readonly attachmentBytes: number;
  readonly attachmentsPerMessage: number;
  readonly attachmentFormBytes: number;
  readonly attachmentLinkHours: number;
  readonly attachmentS3Endpoint: string | null;
  readonly attachmentS3Bucket: string | null;
  readonly attachmentS3Region: string;
  readonly attachmentS3AccessKeyId: string | null;
  readonly attachmentS3SecretAccessKey: string | null;
  readonly attachmentS3TimeoutMs: number;
  readonly uploadsInFlight: number;
  readonly uploadsPerAccount: number;
  readonly uploadsOfVisitors: number;
  readonly uploadsPerAddress: number;
  readonly uploadStallMs: number;
  readonly uploadBytesPerSecond: number;
  readonly uploadTimeoutMs: number;
  readonly widgetUploadBytesPerMinute: number;
  readonly connections: number;
  readonly connectionsPerAddress: number;
  readonly eventStreamsPerAccount: number;
  readonly widgetStreamsPerInbox: number;
  readonly widgetStreamsPerAddress: number;
  readonly databasePoolMax: number;
  /** Null = a quarter of databasePoolMax. */
  readonly databasePoolEngine: number | null;
  readonly databaseStartTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly idleInTransactionTimeoutMs: number;
  readonly webhookTimeoutMs: number;
  readonly enginePollMs: number;
  readonly engineInFlight: number;
  readonly endpointInFlight: number;
  readonly engineResentInFlight: number;
  readonly endpointResentInFlight: number;
  readonly leaseSeconds: number;
  readonly holdAttempts: number;
  readonly sandboxRunners: number;
  readonly sandboxQueue: number;
  readonly replayRunners: number;
  readonly replayQueue: number;
  readonly sandboxMaxRssMb: number;
  readonly waitingRuns: number;
  readonly waitingRunsPerAccount: number;
  readonly botFetchTimeoutMs: number;
  readonly botFetchMaxBytes: number;
  readonly botStorageBytes: number;
  /** Null = accounts without a model server of their own have none. */
  readonly llmBaseUrl: string | null;
  /** Null = that server asks for none. */
  readonly llmApiKey: string | null;
  readonly llmModel: string | null;
  readonly llmTimeoutMs: number;
  readonly llmRunMs: number;
  readonly llmMaxBytes: number;
  readonly llmMaxTokens: number;
  /** Null = articles of accounts without a model server of their own are found by their words alone. */
  readonly llmEmbeddingModel: string | null;
  /** In hundredths. */
  readonly llmEmbeddingSimilarity: number;
  readonly llmEmbeddingBatch: number;
  readonly llmEmbeddingInFlight: number;
  readonly llmEmbeddingMaxBytes: number;
  readonly llmEmbeddingQueryMs: number;
  readonly llmEmbeddingRetryMs: number;
  readonly llmEmbeddingChanges: number;
  readonly llmEmbeddingPassages: number;
  readonly burstQuietMs: number;
  readonly burstMaxMs: number;
  /** Absolute paths; the defaults are relative to the project's folder. */
  readonly pluginDirs: readonly string[];
  readonly pluginPollMs: number;
  readonly pluginCacheBytes: number;
  readonly pluginArchiveBytes: number;
  readonly pluginUnpackedBytes: number;
  readonly pluginEntries: number;
  readonly articleImportBytes: number;
  readonly articleImportUnpackedBytes: number;
  readonly articleImportEntries: number;
  readonly pluginTrustedKeys: readonly string[];
  readonly pluginSignatures: 'off' | 'warn' | 'require';
  readonly ledgerTimeoutMs: number;
  readonly metricsToken: string | null;
  readonly shutdownTimeoutMs: number;
  readonly retentionDays: number;
  readonly runRetentionDays: number; // More than retentionDays means as many.
  readonly reportRetentionDays: number;
  /** Null = mail is not sent. Contains a password. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string | null;
  /** Without a slash at the end; null = the address that the service listens on. */
  readonly publicUrl: string | null;
}

/** Thrown for invalid settings. The message lists every problem and contains no secret value. */
export class ConfigError extends OperatorError {
  override name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

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
  return Object.freeze(Object.fromEntries(entries) as Config);
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
