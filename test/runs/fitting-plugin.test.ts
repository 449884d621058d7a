import { expect } from 'chai';
import { parseManifest } from '../../src/packages/manifest/manifest.ts';
import { findFitting } from '../../src/runs/fitting-plugin.ts';
import type { InstalledPlugin } from '../../src/runs/installed-plugins.ts';

function versionWith(version: string, required: readonly string[]): InstalledPlugin {
  const properties = { greeting: { type: 'string' }, team: { type: 'string' } };
  const config = { type: 'object', properties, required };
  const [manifest] = parseManifest({
    id: 'late',
    name: 'l',
    version,
    apiVersion: '1',
    main: 'bot.js',
    events: ['schedule'],
    config,
  }).parts;
  return { id: 'late', manifest, bundle: { hash: version, code: '' } };
}

/** The plugins of a process that has heard of the first version alone, until it looks again. */
function plugins(first: InstalledPlugin | null, second: InstalledPlugin | null) {
  let looked = 0;
  return {
    looked: () => looked,
    find: () => Promise.resolve(looked === 0 ? first : second),
    refresh: () => {
      looked += 1;
      return Promise.resolve();
    },
  };
}

describe('the version that a bot runs', () => {
  const [old, next] = [versionWith('1.0.0', ['greeting']), versionWith('2.0.0', ['team'])];
  const bot = { pluginId: 'late', part: 'bot' as const, config: { team: 'us' } };

  it('is looked for again where the one that is known refuses the settings', async () => {
    const { pack, config, problems } = await findFitting(plugins(old, next), bot);
    expect([pack?.manifest.version, config, problems]).to.deep.equal(['2.0.0', { team: 'us' }, []]);
  });

  it('is the known one where that accepts them, and nothing is asked', async () => {
    const known = plugins(next, old);
    expect((await findFitting(known, bot)).pack?.manifest.version).to.equal('2.0.0');
    expect(known.looked()).to.equal(0);
  });

  it('is looked for again where the one that is known lacks the part', async () => {
    expect((await findFitting(plugins(null, next), bot)).pack?.manifest.version).to.equal('2.0.0');
  });

  it('refuses them with every problem where nothing has changed; none runs without a plugin', async () => {
    expect((await findFitting(plugins(old, old), { ...bot, config: { team: 5 } })).problems).to.have.lengthOf(2);
    expect(await findFitting(plugins(old, null), bot)).to.deep.equal({ pack: null, config: {}, problems: [] });
  });
});
