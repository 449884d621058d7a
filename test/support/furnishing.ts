import type { Furnishing } from '../../src/app/start/seed.ts';
import { createPluginBot } from '../../src/domain/bots/bots.ts';
import { createInbox } from '../../src/domain/inboxes/inboxes.ts';
import { findRunnable } from '../../src/domain/plugins/rows.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { hearingOf } from '../../src/packages/manifest/heard-events.ts';

/** An account with the demo inbox and its bot alone, so that tests know what is there. */
export const oneBot: Furnishing = {
  accountName: 'Demo account',
  async furnish({ sql, account: { id: accountId }, now }) {
    const { active } = (await findRunnable(sql, 'faq')) ?? {};
    const hearing = active && hearingOf(active.manifest.parts[0]);
    const name = active?.manifest.name ?? '';
    const faq = { accountId, name, description: active?.manifest.description ?? null, pluginId: 'faq', config: {} };
    const bot = hearing ? await createPluginBot(sql, { ...faq, hearing }, now) : null;
    const inbox = { name: 'Demo inbox', channelType: 'Channel::Api', identifier: systemRandom.uuid() };
    await createInbox(sql, { accountId, ...inbox, agentBotId: bot?.id ?? null, now });
  },
};
