import { listPlugins, type Plugin } from '../../../domain/plugins/rows.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { describePart } from '../../../packages/manifest/grants.ts';
import { hookSecrets } from '../../../packages/manifest/hooks.ts';
import type { Manifest } from '../../../packages/manifest/manifest.ts';
import type { Shape } from '../../../schemas.ts';
import { presentPage } from '../../page.ts';

export const pluginRoutes = [
  doors.account(
    ['GET', '/api/v1/accounts/:account_id/plugins', 'List plugins'],
    {
      query: 'requests/page.query',
      reply: 'resources/account-plugin-list',
      paged: true,
      role: 'agent',
      description: 'A plugin of several parts has an entry for each, with the same `id`; pages count plugins.',
    },
    async ({ sql, query: { page = 1 } }) => {
      const { rows, ...found } = await listPlugins(sql, page, { runnable: true });
      return presentPage({ ...found, rows: rows.flatMap(partsOf) }, presentPart);
    },
  ),
];

interface ListedPart {
  description: string;
  part: Manifest;
}

function partsOf({ id, active }: Plugin): ListedPart[] {
  if (!active) throw new Error(`The plugin ${id} runs no version`);
  const { description, parts } = active.manifest;
  return parts.map((part) => ({ description, part }));
}

function presentPart({ description, part }: ListedPart): Shape<'resources/account-plugin'> {
  const { id, name, version, kind, permissions, config, hooks } = part;
  return {
    id,
    name,
    version,
    kind,
    description,
    permissions: describePart(part),
    config_schema: { ...config },
    secrets: [
      ...permissions.secrets.map((secret) => ({ name: secret.name, hosts: [...secret.hosts] })),
      ...[...new Set([...hookSecrets(hooks), ...(permissions.mail === undefined ? [] : [permissions.mail])])].map(
        (secret) => ({ name: secret, hosts: [] }),
      ),
    ],
    forwards: permissions.forward,
    asks_models: permissions.llm,
  };
}
