import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { ErrorDetail } from '../errors.ts';
import { explainFaults } from '../fault-sentences.ts';
import { findUnsafeValue } from '../lib/json-text.ts';
import { findProblems } from '../schemas.ts';
import type { Shape } from '../schemas.ts';
import { defaultLimits } from './run-types.ts';
import type { BotEventName, Permissions, RunLimits } from './run-types.ts';

type ManifestFile = Shape<'runtime/plugin'>;
/** The settings of a bot as a JSON Schema object: the subset that schemas/runtime/plugin.json allows. */
export type ConfigSchema = NonNullable<ManifestFile['config']>;

/** plugin.json with everything filled in that it may leave out. */
export interface Manifest {
  id: string;
  name: string;
  version: string;
  apiVersion: '1';
  description: string;
  main: string;
  events: readonly BotEventName[];
  permissions: Permissions;
  config: ConfigSchema;
  limits: RunLimits;
}

/** A package that cannot be used, with every reason in a sentence each. */
export class PluginError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'PluginError';
    this.problems = problems;
  }
}

const maxManifestBytes = 64 * 1024;
const maxConfigChars = 64 * 1024;
const noSettings: ConfigSchema = { type: 'object', properties: {}, additionalProperties: false };
const formatNames = ['email', 'uri', 'date', 'time', 'date-time'] as const;
const configValidators = new WeakMap<ConfigSchema, ValidateFunction>();

function compileConfig(schema: ConfigSchema): ValidateFunction {
  const known = configValidators.get(schema);
  if (known) return known;
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, verbose: true, useDefaults: true });
  // The full patterns of some formats take long for hostile texts.
  formats.default(ajv, { mode: 'fast', formats: [...formatNames] });
  const validate = ajv.compile(schema);
  configValidators.set(schema, validate);
  return validate;
}

function findConfigSchemaProblem(schema: ConfigSchema): string[] {
  try {
    compileConfig(schema);
    return [];
  } catch (error) {
    return [`/config: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** The manifest in a parsed plugin.json. Throws a PluginError that names every problem. */
export function parseManifest(value: unknown): Manifest {
  const unsafe = findUnsafeValue(value);
  if (unsafe) throw new PluginError([`plugin.json: ${unsafe.message}`]);
  const problems = findProblems('runtime/plugin', value, 'The file').map(({ message }) => `plugin.json: ${message}`);
  if (problems.length > 0) throw new PluginError([...new Set(problems)]);
  const file = value as ManifestFile;
  const config = file.config ?? noSettings;
  const configProblems = findConfigSchemaProblem(config);
  if (configProblems.length > 0) throw new PluginError(configProblems.map((problem) => `plugin.json: ${problem}`));
  const { id, name, version, apiVersion, description = '', main, events, permissions = {}, limits = {} } = file;
  const { conversation = [], contact = [], notes_read = false, receive_own = false } = permissions;
  return {
    id,
    name,
    version,
    apiVersion,
    description,
    main,
    events,
    config,
    permissions: { conversation, contact, notes_read, receive_own },
    limits: { ...defaultLimits, ...limits },
  };
}

/** Reads and checks `plugin.json` of a package directory. Throws a PluginError that names every problem. */
export async function readManifest(directory: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(directory, 'plugin.json'), 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new PluginError([`plugin.json cannot be read: ${code}`]);
  }
  if (text.length > maxManifestBytes) throw new PluginError([`plugin.json is larger than ${maxManifestBytes} bytes`]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new PluginError([`plugin.json is not JSON: ${error instanceof Error ? error.message : ''}`]);
  }
  return parseManifest(value);
}

/** A copy of an account's settings with the manifest's defaults filled in, and what is wrong with it; empty when nothing is. */
export function validateConfig(
  manifest: Manifest,
  settings: unknown,
): { config: Record<string, unknown>; problems: ErrorDetail[] } {
  const unsafe = findUnsafeValue(settings);
  if (unsafe) return { config: {}, problems: [unsafe] };
  const config = structuredClone(settings) as Record<string, unknown>;
  const validate = compileConfig(manifest.config);
  const problems = validate(config) ? [] : explainFaults(validate.errors, 'The settings');
  if (JSON.stringify(config).length > maxConfigChars) {
    const message = `The settings must be at most ${maxConfigChars} characters long`;
    problems.push({ path: '', rule: 'maxLength', message });
  }
  return { config, problems };
}
