import { approveVersion, chooseVersion, setEnabled, uninstall } from '../../domain/plugins/changes.ts';
import { installArchive } from '../../domain/plugins/install.ts';
import { listPlugins, listVersions, readPlugin, type Plugin, type VersionRow } from '../../domain/plugins/rows.ts';
import { ApiError } from '../../errors.ts';
import { doors } from '../../http/route/doors.ts';
import { Unchanged } from '../../http/route/route.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import { describePermissions, findWidening } from '../../packages/grants.ts';
import { PluginError } from '../../packages/plugin-error.ts';
import type { ArchivePackage, ReadArchive } from '../../packages/archive.ts';
import type { Shape } from '../../schemas.ts';
import { presentPage } from '../page.ts';

const base = '/platform/api/v1/plugins';
const one = `${base}/:plugin` as const;

export const platformPluginRoutes = [
  doors.platform(
    ['GET', base, 'List plugins'],
    { query: 'requests/page.query', reply: 'resources/plugin-list', paged: true, role: 'platform' },
    async ({ em, query: { page = 1 } }) => presentPage(await listPlugins(em, page), presentPlugin),
  ),
  doors.platform(
    ['GET', one, 'Get a plugin'],
    { reply: 'resources/plugin', record: true, role: 'platform' },
    async ({ em, params }) => presentPlugin(await readPlugin(em, params.plugin)),
  ),
  doors.platform(
    ['POST', base, 'Install a plugin'],
    {
      body: 'requests/plugin.create',
      upload: true,
      reply: 'resources/plugin',
      role: 'platform',
      status: 201,
      unchanged: true,
      errors: [409],
      description:
        'The plugin, or its new version, is used by every process within a second. A version that may do more than the one that runs waits for approval. The same version again with the same content does nothing and answers 200, with other content 409. No script of the package is run.',
    },
    {
      prepare: ({ services, body }) => readUpload(services.readArchive, body.file),
      handle: async ({ transact }, pack) => {
        const { plugin, isNew } = await transact((tx) => installArchive(tx, pack));
        const record = presentPlugin(plugin);
        return isNew ? record : new Unchanged(record);
      },
    },
  ),
  doors.platform(
    ['PATCH', one, 'Update a plugin'],
    { body: 'requests/plugin.update', reply: 'resources/plugin', role: 'platform', errors: [409] },
    async ({ em, params: { plugin: id }, body: { enabled, version }, transact }) => {
      if (enabled === undefined && version === undefined) return presentPlugin(await readPlugin(em, id));
      return transact(async (tx) => {
        if (version !== undefined) await chooseVersion(tx, id, version);
        if (enabled !== undefined) await setEnabled(tx, id, enabled);
        return presentPlugin(await readPlugin(tx.em, id));
      });
    },
  ),
  doors.platform(
    ['DELETE', one, 'Uninstall a plugin'],
    {
      reply: 'resources/empty',
      role: 'platform',
      errors: [409],
      description: 'Refused (409) while bots use it. The code of its versions is kept while runs refer to them.',
    },
    async ({ params, transact }) => {
      await transact((tx) => uninstall(tx, params.plugin));
    },
  ),
  doors.platform(
    ['GET', `${one}/versions`, 'List the versions of a plugin'],
    { query: 'requests/page.query', reply: 'resources/plugin-version-list', paged: true, role: 'platform' },
    async ({ em, params, query: { page = 1 } }) => {
      const plugin = await readPlugin(em, params.plugin);
      return presentPage(await listVersions(em, plugin.id, page), (version) => presentVersion(plugin, version));
    },
  ),
  doors.platform(
    ['POST', `${one}/approve`, 'Approve a version of a plugin'],
    {
      body: 'requests/plugin.approve',
      reply: 'resources/plugin',
      role: 'platform',
      errors: [409],
      description: 'Refused (409) unless exactly this version with this hash is waiting.',
    },
    async ({ params, body, transact }) =>
      presentPlugin(await transact((tx) => approveVersion(tx, params.plugin, body))),
  ),
  doors.platform(
    ['POST', `${one}/enable`, 'Enable a plugin'],
    { reply: 'resources/plugin', role: 'platform' },
    async ({ params, transact }) => presentPlugin(await transact((tx) => setEnabled(tx, params.plugin, true))),
  ),
  doors.platform(
    ['POST', `${one}/disable`, 'Disable a plugin'],
    {
      reply: 'resources/plugin',
      role: 'platform',
      description: 'Its bots do not answer any more; people get their conversations.',
    },
    async ({ params, transact }) => presentPlugin(await transact((tx) => setEnabled(tx, params.plugin, false))),
  ),
];

async function readUpload(readArchive: ReadArchive, file: string): Promise<ArchivePackage> {
  try {
    return await readArchive(Buffer.from(file, 'latin1'));
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    const details = error.problems.map((message) => ({ path: '/file', rule: 'package', message }));
    throw new ApiError(422, 'validation_failed', error.problems[0] ?? 'The package cannot be used', { details });
  }
}

function presentPlugin(plugin: Plugin): Shape<'resources/plugin'> {
  const { id, active, pending } = plugin;
  const shown = active ?? pending;
  if (!shown) throw new Error(`The plugin ${id} has no version`);
  const { name, description, permissions } = shown.manifest;
  return {
    id,
    name,
    version: shown.version,
    description,
    enabled: plugin.enabled,
    pending: pending && {
      version: pending.version,
      hash: pending.hash,
      widens: findWidening(active?.manifest.permissions ?? {}, pending.manifest.permissions),
    },
    hash: shown.hash,
    permissions: describePermissions(permissions),
    source: plugin.source,
    directory: plugin.directory,
    created_at: unixSeconds(plugin.createdAt),
    updated_at: unixSeconds(plugin.updatedAt),
  };
}

function presentVersion(
  { active, pending }: Plugin,
  { version, hash, manifest, signedBy, createdAt }: VersionRow,
): Shape<'resources/plugin-version'> {
  return {
    version,
    hash,
    active: hash === active?.hash,
    pending: hash === pending?.hash,
    permissions: describePermissions(manifest.permissions),
    signed_by: signedBy,
    created_at: unixSeconds(createdAt),
  };
}
