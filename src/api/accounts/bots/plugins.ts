import { listPlugins, type Plugin } from '../../../domain/plugins/rows.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { describePermissions } from '../../../packages/manifest/grants.ts';
import { hookSecrets } from '../../../packages/manifest/hooks.ts';
import type { Shape } from '../../../schemas.ts';
import { presentPage } from '../../page.ts';

export const pluginRoutes = [
  doors.account(
    ['GET', '/api/v1/accounts/:account_id/plugins', 'List plugins'],
    { query: 'requests/page.query', reply: 'resources/account-plugin-list', paged: true, role: 'agent' },
    async ({ sql, query: { page = 1 } }) =>
      presentPage(await listPlugins(sql, page, { runnable: true }), presentPlugin),
  ),
];

function presentPlugin({ id, active }: Plugin): Shape<'resources/account-plugin'> {
  if (!active) throw new Error(`The plugin ${id} runs no version`);
  const { kind, name, description, permissions, config, hooks } = active.manifest;
  return {
    id,
    name,
    version: active.version,
    kind,
    description,
    permissions: describePermissions(active.manifest),
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
