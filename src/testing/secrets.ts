import type { Manifest } from '../packages/manifest/manifest.ts';
import { secretSettings } from '../packages/manifest/secret-settings.ts';
import type { SimulateOptions } from './api.ts';

/** Returns the secrets of a bot by name: `secrets`, and the settings that are marked as secrets. */
export function secretsOf(
  { config: schema }: Manifest,
  { secrets = {}, config = {} }: Pick<SimulateOptions, 'secrets' | 'config'>,
): Record<string, string> {
  const marked = secretSettings(schema).filter((name) => typeof config[name] === 'string');
  return { ...Object.fromEntries(marked.map((name) => [name, String(config[name])])), ...secrets };
}
