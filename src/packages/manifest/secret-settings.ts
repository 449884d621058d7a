import type { ConfigSchema } from './manifest.ts';

type Setting = NonNullable<ConfigSchema['properties']>[string];

/** A sentence for each setting marked `x-secret` that cannot be one. */
export function findSecretProblems({ properties = {} }: ConfigSchema): string[] {
  return Object.entries(properties).flatMap(([name, setting]) => [
    ...problemsOf(name, setting),
    ...[...inner(setting)]
      .filter((one) => one['x-secret'])
      .map(() => `/config: a secret within \`${name}\`: only settings of the first level can be marked \`x-secret\``),
  ]);
}

function problemsOf(name: string, setting: Setting): string[] {
  if (!setting['x-secret']) return [];
  const told = ['default', 'examples', 'enum'].filter((keyword) => keyword in setting);
  return [
    ...(setting.type === 'string' ? [] : [`/config: \`${name}\` is marked \`x-secret\`, so its type must be string`]),
    ...told.map(
      (keyword) =>
        `/config: \`${name}\` is marked \`x-secret\` and may have no \`${keyword}\`: plugin.json is no secret`,
    ),
  ];
}

function* inner({ properties = {}, items }: Setting): Generator<Setting> {
  for (const setting of [...Object.values(properties), ...(items ? [items] : [])]) {
    yield setting;
    yield* inner(setting);
  }
}

/** The names of the settings that are marked `x-secret`. */
export function secretSettings({ properties = {} }: ConfigSchema): string[] {
  return Object.entries(properties).flatMap(([name, setting]) => (setting['x-secret'] ? [name] : []));
}

const openSchemas = new WeakMap<ConfigSchema, ConfigSchema>();

/** The schema without the settings that are marked `x-secret`: of what a bot gets. */
export function withoutSecrets(schema: ConfigSchema): ConfigSchema {
  const hidden = new Set(secretSettings(schema));
  if (hidden.size === 0) return schema;
  const known = openSchemas.get(schema);
  if (known) return known;
  const { properties = {}, required = [] } = schema;
  const open = {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !hidden.has(name))),
    required: required.filter((name) => !hidden.has(name)),
  };
  openSchemas.set(schema, open);
  return open;
}
