import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { ErrorDetail } from '../../errors.ts';
import { explainFaults } from '../../fault-sentences.ts';
import { findUnsafeValue } from '../../lib/text/unsafe-value.ts';
import { findProblems } from '../../schemas.ts';
import type { Shape } from '../../schemas.ts';
import { PluginError } from '../plugin-error.ts';
import { defaultLimits } from '../../sandbox/run.ts';
import type { BotEventName, Permissions, RunLimits } from '../../sandbox/run.ts';
import { findHookProblems, readHooks, type HookHandler } from './hooks.ts';
import { findPermissionProblems, readPermissions } from './permissions.ts';
import { findKindProblems } from './kinds.ts';
import { findHostProblems } from './setting-hosts.ts';
import { findPartsProblems, partFilesOf, type PartFile } from './parts.ts';
import { findSecretProblems, secretSettings, withoutSecrets } from './secret-settings.ts';

type ManifestFile = Shape<'runtime/plugin'>;
/** The settings of a bot as a JSON Schema object: the subset that schemas/runtime/plugin.json allows. */
export type ConfigSchema = NonNullable<PartFile['config']>;

/** A validated plugin.json: what the package is called, and what it is made of. */
export interface PluginManifest {
  id: string;
  name: string;
  version: string;
  description: string;
  /** Each of another kind. */
  parts: readonly [Manifest, ...Manifest[]];
}

/** The part of a package that serves one kind, its optional fields filled in with their defaults. */
export interface Manifest {
  id: string;
  name: string;
  version: string;
  /** Whether it serves conversations, hears what happens in accounts, or connects inboxes with other systems. */
  kind: PartFile['kind'];
  /** Whether plugin.json lists it under `parts`, as others may be listed beside it. */
  isPart: boolean;
  /** The setting or secret of a channel that no two inboxes may share; null for none. */
  identity: string | null;
  main: string;
  events: readonly BotEventName[];
  /** Requests of other systems that its bots take, by name. */
  hooks: Readonly<Record<string, HookHandler>>;
  permissions: Permissions;
  config: ConfigSchema;
  limits: RunLimits;
}

// Ajv compiles each setting of the schema to code in the process of the service, so their number is bounded.
const maxSettings = 200;
const maxSettingDepth = 8;
const maxConfigChars = 64 * 1024;
const noSettings: ConfigSchema = { type: 'object', properties: {}, additionalProperties: false };
const formatNames = ['email', 'uri', 'date', 'time', 'date-time'] as const;
const configValidators = new WeakMap<ConfigSchema, ValidateFunction>();

interface Setting {
  properties?: Record<string, Setting>;
  items?: Setting;
}

/** Validates a parsed plugin.json. Throws a PluginError that names every problem. */
export function parseManifest(value: unknown): PluginManifest {
  const unsafe = findUnsafeValue(value);
  if (unsafe) throw new PluginError([`plugin.json: ${unsafe.message}`]);
  const problems = findProblems('runtime/plugin', value, 'The file').map(({ message }) => `plugin.json: ${message}`);
  if (problems.length > 0) throw new PluginError([...new Set(problems)]);
  const file = value as ManifestFile;
  const manifest = fillIn(file);
  const found = [...findPartsProblems(file), ...manifest.parts.flatMap(findProblemsOfPart)];
  if (found.length > 0) throw new PluginError(found.map((problem) => `plugin.json: ${problem}`));
  return manifest;
}

function findProblemsOfPart(part: Manifest): string[] {
  const { config, permissions } = part;
  const found = [
    ...findConfigSchemaProblem(config),
    ...findSecretProblems(config),
    ...findPermissionProblems(permissions),
    ...findHostProblems(config, permissions),
    ...findKindProblems(part),
    ...findHookProblems(part.hooks, part),
  ];
  return part.isPart ? found.map((problem) => `in the part ${part.kind}: ${problem}`) : found;
}

/** The manifest in the text of a plugin.json that was validated when it was stored. */
export function readStoredManifest(text: string): PluginManifest {
  return fillIn(JSON.parse(text) as ManifestFile);
}

function fillIn(file: ManifestFile): PluginManifest {
  const { id, name, version, description = '' } = file;
  const common = { id, name, version, isPart: file.parts !== undefined };
  // The schema demands one at least.
  const parts = partFilesOf(file).map((part) => ({
    ...common,
    ...fillInPart(part),
  })) as unknown as PluginManifest['parts'];
  return { id, name, version, description, parts };
}

function fillInPart(part: PartFile): Omit<Manifest, 'id' | 'name' | 'version' | 'isPart'> {
  const { kind, main, events, identity = null, config = noSettings, limits = {} } = part;
  return {
    kind,
    identity,
    main,
    events,
    hooks: readHooks(part.hooks),
    config,
    permissions: { ...readPermissions(part.permissions), ...(kind === 'channel' ? { channel: true } : {}) },
    limits: { ...defaultLimits, ...limits },
  };
}

/** Parses and validates the text of a plugin.json. Throws a PluginError that names every problem. */
export function parseManifestText(text: string): PluginManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // V8's message quotes the text, which must not be repeated; the position is enough.
    const place = error instanceof Error ? /at position \d+( \(line \d+ column \d+\))?/.exec(error.message)?.[0] : null;
    throw new PluginError([`plugin.json is not JSON${place ? `: unexpected text ${place}` : ''}`]);
  }
  return parseManifest(value);
}

/**
 * A copy of an account's settings with the manifest's defaults filled in, and its problems; no problems = it is valid.
 */
export function validateConfig(
  manifest: Manifest,
  settings: unknown,
): { config: Record<string, unknown>; problems: ErrorDetail[] } {
  const unsafe = findUnsafeValue(settings);
  if (unsafe) return { config: {}, problems: [unsafe] };
  const config = structuredClone(settings) as Record<string, unknown>;
  return checkSettings(manifest.config, config);
}

/** Like validateConfig, without the settings that are secret: what a bot gets. */
export function openConfig(manifest: Manifest, settings: unknown): ReturnType<typeof validateConfig> {
  const unsafe = findUnsafeValue(settings);
  if (unsafe) return { config: {}, problems: [unsafe] };
  const config = structuredClone(settings) as Record<string, unknown>;
  for (const name of secretSettings(manifest.config)) delete config[name];
  return checkSettings(withoutSecrets(manifest.config), config);
}

function checkSettings(schema: ConfigSchema, config: Record<string, unknown>): ReturnType<typeof validateConfig> {
  const validate = compileConfig(schema);
  const problems = validate(config) ? [] : explainFaults(validate.errors, 'The settings');
  if (JSON.stringify(config).length > maxConfigChars) {
    const message = `The settings must be at most ${maxConfigChars} characters long`;
    problems.push({ path: '', rule: 'maxLength', message });
  }
  return { config, problems };
}

function findConfigSchemaProblem(schema: ConfigSchema): string[] {
  if (countSettings(schema) > maxSettings) {
    return [
      `/config: there are more than ${maxSettings} settings, or they are nested more than ${maxSettingDepth} deep`,
    ];
  }
  try {
    compileConfig(schema);
    return [];
  } catch (error) {
    return [`/config: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** The number of settings, nested ones included; Infinity when they are nested too deeply. */
function countSettings({ properties = {}, items }: Setting, depth = 0): number {
  if (depth > maxSettingDepth) return Infinity;
  const inner = [...Object.values(properties), ...(items ? [items] : [])];
  return inner.reduce((sum, setting) => sum + 1 + countSettings(setting, depth + 1), 0);
}

function compileConfig(schema: ConfigSchema): ValidateFunction {
  const known = configValidators.get(schema);
  if (known) return known;
  configCompiler ??= createConfigCompiler();
  try {
    const validate = configCompiler.compile(schema);
    configValidators.set(schema, validate);
    return validate;
  } finally {
    // It would keep every schema that it has seen.
    configCompiler.removeSchema(schema);
  }
}

// Shared by all schemas: creating a compiler takes fifty times as long as compiling a schema.
let configCompiler: Ajv2020 | undefined;

function createConfigCompiler(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    allErrors: true,
    verbose: true,
    useDefaults: true,
  });
  // The patterns of the mode `full` can take exponential time on hostile texts.
  formats.default(ajv, { mode: 'fast', formats: [...formatNames] });
  for (const keyword of ['x-secret', 'x-host']) ajv.addKeyword({ keyword, schemaType: 'boolean' });
  return ajv;
}
