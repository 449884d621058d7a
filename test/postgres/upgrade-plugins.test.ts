import { expect } from 'chai';
import { Client } from 'pg';
import { migrate } from '../../src/postgres/migrate.ts';
import { migrations } from '../../src/postgres/migrations/index.ts';
import { pluginRootOf } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';

/** The migrations before the one with this name. */
function before(name: string): typeof migrations {
  return migrations.slice(
    0,
    migrations.findIndex((one) => one.name === name),
  );
}

async function fill(url: string, statements: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statements);
  } finally {
    await client.end();
  }
}

describe('plugins of an older database, after an upgrade', () => {
  let app: TestApp | undefined;
  let root: { path: string; remove: () => void } | undefined;

  afterEach(async () => {
    await app?.stop();
    root?.remove();
    app = undefined;
    root = undefined;
  });

  it('keep the ids that their folders had claimed, also where the folder is not there', async () => {
    const url = await createDatabase();
    await migrate(url, before('20261122-plugins'));
    await fill(
      url,
      `INSERT INTO plugin_claims (id, source, claimed_at) VALUES
         ('greeter', 'bots', '2026-11-01T10:00:00Z'), ('absent', 'plugins', '2026-11-02T10:00:00Z')`,
    );
    expect(await migrate(url)).to.include.members(['20261122-plugins', '20261122-plugin-obstacles']);
    root = pluginRootOf({ greeter: `ctx.reply('Hello')`, newcomer: '' });
    app = await TestApp.start({ databaseUrl: url, pluginRoot: root.path, engine: false });
    const rows = await app.query(
      `SELECT id, source, directory, is_present, active_hash IS NOT NULL AS runs, created_at::timestamptz(0) < '2026-11-03' AS is_old
       FROM plugins ORDER BY id`,
    );
    const plugin = { source: 'folder', is_present: true, runs: true };
    expect(rows).to.deep.equal([
      { ...plugin, id: 'absent', directory: 'plugins/absent', is_present: false, runs: false, is_old: true },
      { ...plugin, id: 'greeter', directory: 'bots/greeter', is_old: true },
      { ...plugin, id: 'newcomer', directory: 'bots/newcomer', is_old: false },
    ]);
  });

  it('tell of bots that did not answer whether their plugin was missing or disabled', async () => {
    const url = await createDatabase();
    await migrate(url, before('20261122-plugin-obstacles'));
    const hash = 'a'.repeat(64);
    await fill(
      url,
      `INSERT INTO accounts (name) VALUES ('First');
       INSERT INTO plugin_bundles (hash, plugin_id, version, manifest, code) VALUES ('${hash}', 'off', '1.0.0', '{}', '');
       INSERT INTO plugins (id, source, enabled, active_hash) VALUES ('off', 'archive', false, '${hash}');
       INSERT INTO agent_bots (account_id, name, kind, plugin_id, events, installed) VALUES
         (1, 'Off', 'plugin', 'off', '{}', false), (1, 'Gone', 'plugin', 'gone', '{}', false), (1, 'Fine', 'plugin', 'faq', '{}', true)`,
    );
    await migrate(url);
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query('SELECT name, plugin_obstacle, config_fits FROM agent_bots ORDER BY id');
    await client.end();
    await dropDatabase(url);
    expect(rows.map((row: Record<string, unknown>) => Object.values(row))).to.deep.equal([
      ['Off', 'plugin_disabled', true],
      ['Gone', 'plugin_missing', true],
      ['Fine', null, true],
    ]);
  });
});
