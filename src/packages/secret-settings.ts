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
