import {
  approveVersion,
  chooseVersion,
  findVersion,
  rejectVersion,
  setEnabled,
  uninstall,
} from '../../domain/plugins/changes.ts';
import { installArchive } from '../../domain/plugins/install.ts';
import { judge, searchOf, type Judged, type Misfit } from '../../domain/plugins/misfits.ts';
import { listPlugins, listVersions, readPlugin, type Plugin, type VersionRow } from '../../domain/plugins/rows.ts';
import { ApiError } from '../../errors.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { Unchanged } from '../../http/route/route.ts';
import { unixSeconds, unixSecondsOrNull } from '../../lib/unix-time.ts';
import type { Sql } from '../../postgres/sql.ts';
import { describePermissions, findWidening } from '../../packages/manifest/grants.ts';
import { PluginError } from '../../packages/plugin-error.ts';
import type { ArchivePackage, ReadArchive } from '../../packages/archive/archive.ts';
import type { Shape } from '../../schemas.ts';
import { presentPage } from '../page.ts';

const base = '/platform/api/v1/plugins';
const one = `${base}/:plugin` as const;
/** Bots that a record names; of the others it tells the number. */
const maxRefused = 100;

export const platformPluginRoutes = [
  doors.platform(
    ['GET', base, 'List plugins'],
    { query: 'requests/page.query', reply: 'resources/plugin-list', paged: true, role: 'platform' },
    async ({ sql, query: { page = 1 } }) => {
      const found = await listPlugins(sql, page);
      const records: Shape<'resources/plugin'>[] = [];
      for (const plugin of found.rows) records.push(await presentPlugin(sql, plugin));
      return presentPage({ ...found, rows: records }, (record) => record);
    },
  ),
  doors.platform(
    ['GET', one, 'Get a plugin'],
    { reply: 'resources/plugin', record: true, role: 'platform' },
    async ({ sql, params }) => presentPlugin(sql, await readPlugin(sql, params.plugin)),
  ),
  doors.platform(
    ['POST', base, 'Install a plugin'],
    {
      body: 'requests/plugin.create',
      upload: 'plugin',
      reply: 'resources/plugin',
      role: 'platform',
      audit: { action: 'plugin.installed', unread: ['version'] },
      status: 201,
      unchanged: true,
      errors: [409],
      description:
        'The plugin, or its new version, is used by every process within a second. A version that may do more than the one that runs, has larger limits, or refuses the settings of a bot, waits for approval. Settings that it marks as secret are sealed when it begins to run. The same version again with the same content does nothing and answers 200, with other content 409. No script of the package is run.',
    },
    {
      prepare: async ({ services, body, read }) => {
        const pack = { ...(await readUpload(services.readArchive, body.file)), origin: body.origin ?? null };
        const { manifest, bundle } = pack;
        return { pack, judged: await read((sql) => judge(sql, [{ hash: bundle.hash, manifest }])) };
      },
      handle: ({ services, transact }, { pack, judged }) =>
        transact(async (tx) => {
          const { seal } = services.secretBox;
          const { plugin, isNew } = await installArchive(tx, pack, { seal, judged });
          const record = await presentPlugin(tx.sql, plugin, judged);
          return isNew ? record : new Unchanged(record);
        }),
    },
  ),
  doors.platform(
    ['PATCH', one, 'Update a plugin'],
    {
      body: 'requests/plugin.update',
      reply: 'resources/plugin',
      role: 'platform',
      errors: [409],
      audit: { where: { version: 'plugin.rolled_back' }, unread: [] },
    },
    {
      prepare: ({ params: { plugin: id }, body: { version }, read }) => read((sql) => judgePlugin(sql, id, version)),
      handle: async ({ services, sql, params: { plugin: id }, body: { enabled, version }, transact }, judged) => {
        if (enabled === undefined && version === undefined)
          return presentPlugin(sql, await readPlugin(sql, id), judged);
        const { seal } = services.secretBox;
        return transact(async (tx) => {
          if (version !== undefined) await chooseVersion(tx, id, version, { seal, judged });
          if (enabled !== undefined) await setEnabled(tx, id, enabled);
          return presentPlugin(tx.sql, await readPlugin(tx.sql, id), judged);
        });
      },
    },
  ),
  doors.platform(
    ['DELETE', one, 'Uninstall a plugin'],
    {
      reply: 'resources/empty',
      role: 'platform',
      errors: [409],
      audit: { unread: [] },
      description: 'Refused (409) while bots use it. The code of its versions is kept while runs refer to them.',
    },
    async ({ params, transact }) => {
      await transact((tx) => uninstall(tx, params.plugin));
    },
  ),
  doors.platform(
    ['GET', `${one}/versions`, 'List the versions of a plugin'],
    { query: 'requests/page.query', reply: 'resources/plugin-version-list', paged: true, role: 'platform' },
    async ({ sql, params, query: { page = 1 } }) => {
      const plugin = await readPlugin(sql, params.plugin);
      return presentPage(await listVersions(sql, plugin.id, page), (version) => presentVersion(plugin, version));
    },
  ),
  doors.platform(
    ['POST', `${one}/approve`, 'Approve a version of a plugin'],
    {
      body: 'requests/plugin.approve',
      reply: 'resources/plugin',
      role: 'platform',
      audit: { action: 'plugin.approved', unread: [] },
      errors: [409],
      description:
        'Refused (409) unless exactly this version with this hash is waiting. Bots whose settings it refuses do not answer until they get others; people get their conversations.',
    },
    {
      prepare: ({ params, read }) => read((sql) => judgePlugin(sql, params.plugin)),
      handle: ({ services, params, body, transact }, judged) =>
        transact(async (tx) => {
          const { seal } = services.secretBox;
          return presentPlugin(tx.sql, await approveVersion(tx, params.plugin, body, { seal, judged }));
        }),
    },
  ),
  doors.platform(
    ['POST', `${one}/reject`, 'Withdraw the waiting version of a plugin'],
    {
      body: 'requests/plugin.approve',
      reply: 'resources/plugin',
      role: 'platform',
      audit: { action: 'plugin.rejected', unread: [] },
      errors: [409],
      description:
        'It waits for approval no longer and stays installed; the version that runs goes on. Refused (409) unless exactly this version with this hash is waiting.',
    },
    ({ params, body, transact }) =>
      transact(async (tx) => presentPlugin(tx.sql, await rejectVersion(tx, params.plugin, body))),
  ),
  doors.platform(
    ['POST', `${one}/enable`, 'Enable a plugin'],
    { reply: 'resources/plugin', role: 'platform', audit: { action: 'plugin.enabled', unread: [] } },
    {
      prepare: ({ params, read }) => read((sql) => judgePlugin(sql, params.plugin)),
      handle: ({ params, transact }, judged) =>
        transact(async (tx) => presentPlugin(tx.sql, await setEnabled(tx, params.plugin, true), judged)),
    },
  ),
  doors.platform(
    ['POST', `${one}/disable`, 'Disable a plugin'],
    {
      reply: 'resources/plugin',
      role: 'platform',
      audit: { action: 'plugin.disabled', unread: [] },
      description: 'Its bots do not answer any more; people get their conversations.',
    },
    {
      prepare: ({ params, read }) => read((sql) => judgePlugin(sql, params.plugin)),
      handle: ({ params, transact }, judged) =>
        transact(async (tx) => presentPlugin(tx.sql, await setEnabled(tx, params.plugin, false), judged)),
    },
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

// The settings of many bots are validated before the transaction, which holds up all changes of plugins.
async function judgePlugin(sql: Sql, id: string, version?: string): Promise<Judged> {
  const { pending } = await readPlugin(sql, id);
  const chosen = version === undefined ? null : await findVersion(sql, id, version);
  return judge(
    sql,
    [pending, chosen].filter((found) => found !== null),
  );
}

async function presentPlugin(sql: Sql, plugin: Plugin, judged?: Judged): Promise<Shape<'resources/plugin'>> {
  const { id, active, pending } = plugin;
  const shown = active ?? pending;
  if (!shown) throw new Error(`The plugin ${id} has no version`);
  const { name, description } = shown.manifest;
  return {
    id,
    name,
    version: shown.version,
    description,
    enabled: plugin.enabled,
    pending: pending && {
      version: pending.version,
      hash: pending.hash,
      widens: findWidening(active?.manifest ?? null, pending.manifest),
      refuses: presentMisfits(await searchOf(pending, judged)(sql)),
    },
    hash: shown.hash,
    permissions: describePermissions(shown.manifest),
    source: plugin.source,
    directory: plugin.directory,
    origin: plugin.origin,
    packages: [...plugin.packages],
    created_at: unixSeconds(plugin.createdAt),
    updated_at: unixSeconds(plugin.updatedAt),
  };
}

type Refused = NonNullable<Shape<'resources/plugin'>['pending']>['refuses'];

function presentMisfits(misfits: readonly Misfit[]): Refused {
  const bots = misfits.slice(0, maxRefused).map(({ id, accountId, name, problems }) => {
    const placed = problems.map((problem) => ({ ...problem, path: `/config${problem.path}` }));
    return { agent_bot_id: id, account_id: accountId, name, problems: placed };
  });
  return { count: misfits.length, bots };
}

function presentVersion(
  { active, pending }: Plugin,
  { version, hash, manifest, signedBy, origin, packages, createdAt, activatedAt }: VersionRow,
): Shape<'resources/plugin-version'> {
  return {
    version,
    hash,
    active: hash === active?.hash,
    pending: hash === pending?.hash,
    permissions: describePermissions(manifest),
    signed_by: signedBy,
    origin,
    packages: [...packages],
    activated_at: unixSecondsOrNull(activatedAt),
    created_at: unixSeconds(createdAt),
  };
}
