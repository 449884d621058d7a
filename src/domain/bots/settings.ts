import { ApiError, type ErrorDetail } from '../../errors.ts';
import { pointerToken } from '../../lib/text/field-name.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import { openConfig, validateConfig, type Manifest } from '../../packages/manifest/manifest.ts';
import { hookSecrets } from '../../packages/manifest/hooks.ts';
import { movedSecrets } from '../../packages/manifest/setting-hosts.ts';
import { secretSettings } from '../../packages/manifest/secret-settings.ts';

type Config = Record<string, unknown>;

const maxSecrets = 50;

/** Parameters of readSettings: the caller's settings and secrets, and the stored secrets. */
interface GivenSettings {
  secretBox: SecretBox;
  manifest: Manifest;
  config: Config | undefined;
  secrets: Readonly<Record<string, string | null>> | undefined;
  /** The bot's stored secrets, sealed. */
  stored: Readonly<Record<string, string>>;
  /** The bot's stored settings, where they are changed. */
  present?: Config;
}

/**
 * Divides settings into those that bots may see and secrets, which are sealed; null removes a secret. A secret without a value
 * here stays, unless `config` has it as a setting that is no secret any more. Errors: 422 with every problem, for settings that
 * the manifest refuses and secrets that it does not name; a bot with tools may have any, for their headers.
 */
export function readSettings({ secretBox, manifest, config, secrets = {}, stored, present }: GivenSettings): {
  config?: Config;
  secrets: Record<string, string | null>;
} {
  const problems = Object.entries(secrets)
    .filter(([name, value]) => !isNamed(manifest, name) && !(value === null && Object.hasOwn(stored, name)))
    .map(([name]) => unknownSecret(manifest, name));
  const hidden = config ? secretsIn(manifest, config) : {};
  if (config) problems.push(...findProblems(manifest, config, (name) => openStored({ secretBox, stored }, name)));
  if (config && present) {
    const moved = movedSecrets(manifest.permissions, present, { ...config, ...hidden });
    problems.push(
      ...moved.filter((name) => Object.hasOwn(stored, name) && !Object.hasOwn(secrets, name)).map(giveAgain),
    );
  }
  const count = Object.values({ ...stored, ...secrets }).filter((value) => value !== null).length;
  if (count > maxSecrets) {
    const message = `A bot may have ${maxSecrets} secrets`;
    problems.push({ path: '/secrets', rule: 'maxProperties', message });
  }
  const [first] = problems;
  if (first) throw new ApiError(422, 'validation_failed', first.message, { details: problems });
  const sealed = Object.entries({ ...outdated(manifest, config, stored), ...hidden, ...secrets }).map(
    ([name, value]) => [name, value === null ? null : secretBox.seal(value)],
  );
  return {
    ...(config ? { config: openConfig(manifest, config).config } : {}),
    secrets: Object.fromEntries(sealed) as Record<string, string | null>,
  };
}

// Nobody can read a stored secret: so nobody may have it sent to a host of their choice.
function giveAgain(name: string): ErrorDetail {
  const message = `Give the secret ${name} again: these settings send it to another host`;
  return { path: `/secrets/${pointerToken(name)}`, rule: 'required', message };
}

// Forms that show the settings do not have the secrets: missing ones are validated with their stored values.
function findProblems(manifest: Manifest, config: Config, storedValue: (name: string) => string | null): ErrorDetail[] {
  const whole = { ...config };
  for (const name of secretSettings(manifest.config)) {
    const value = Object.hasOwn(config, name) ? config[name] : storedValue(name);
    if (value === null) delete whole[name];
    else whole[name] = value;
  }
  return validateConfig(manifest, whole).problems.map((problem) => ({ ...problem, path: `/config${problem.path}` }));
}

function openStored({ secretBox, stored }: Pick<GivenSettings, 'secretBox' | 'stored'>, name: string): string | null {
  const sealed = Object.hasOwn(stored, name) ? stored[name] : undefined;
  return sealed === undefined ? null : secretBox.open(sealed);
}

function secretsIn(manifest: Manifest, config: Config): Record<string, string | null> {
  const given = secretSettings(manifest.config).filter((name) => Object.hasOwn(config, name));
  return Object.fromEntries(given.map((name) => [name, config[name] as string | null]));
}

// Removes secrets of an earlier version that marked these settings as secret.
function outdated(manifest: Manifest, config: Config = {}, stored: GivenSettings['stored']): Record<string, null> {
  const names = Object.keys(config).filter((name) => Object.hasOwn(stored, name) && !isNamed(manifest, name));
  return Object.fromEntries(names.map((name) => [name, null]));
}

function isNamed({ permissions, config, hooks }: Manifest, name: string): boolean {
  if (permissions.tools || permissions.mail === name || hookSecrets(hooks).includes(name)) return true;
  return permissions.secrets.some((secret) => secret.name === name) || secretSettings(config).includes(name);
}

function unknownSecret({ id }: Manifest, name: string): ErrorDetail {
  const message = `The plugin \`${id}\` asks for no secret \`${name}\``;
  return { path: `/secrets/${pointerToken(name)}`, rule: 'unknown', message };
}
