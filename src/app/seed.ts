import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../postgres/database.ts';
import { addAgent, createAccount, createUser, grantToken, hasAccounts } from '../domain/people/users.ts';
import { createPluginBot } from '../domain/bots/bots.ts';
import { createInbox } from '../domain/inboxes/inboxes.ts';
import { findRunnable } from '../domain/plugins/rows.ts';
import { transactOutside } from '../events/transaction.ts';
import type { Random } from '../lib/ports.ts';
import { newToken } from '../lib/tokens.ts';
import { hearingOf } from '../packages/hearing.ts';

export interface SeedOptions {
  database: Database;
  random: Random;
  /** The first administrator's token; generated when null. */
  adminToken: string | null;
  demo: boolean;
}

/** What the first start created. `generatedToken` is shown once and stored only as a hash. */
export interface Seeded {
  generatedToken: string | null;
}

const sampleBot = 'faq';
// Two processes may start at the same time on an empty database.
const lockStatement = 'SELECT pg_advisory_xact_lock(7237002)';

/**
 * Makes an empty database usable: creates account 1 with its first administrator, who is platform administrator too,
 * and with `demo` an inbox with a bot. Returns null when there are accounts already.
 */
export async function seed(options: SeedOptions): Promise<Seeded | null> {
  const { database, random, adminToken, demo } = options;
  return transactOutside(database, async ({ em, now }) => {
    await em.execute(lockStatement);
    if (await hasAccounts(em)) return null;
    const account = await createAccount(em, demo ? 'Demo account' : 'First account', now);
    const user = await createUser(
      em,
      { name: 'Administrator', email: 'administrator@example.com', confirmed: true, platformAdmin: true },
      now,
    );
    await addAgent(em, { accountId: account.id, userId: user.id, role: 'administrator', now });
    const token = adminToken ?? newToken('user', random);
    await grantToken(em, user.id, token, now);
    if (demo) await seedDemo(em, account.id, options);
    return { generatedToken: adminToken === null ? token : null };
  });
}

/** Creates the demo inbox with its bot. */
async function seedDemo(em: EntityManager, accountId: number, options: SeedOptions): Promise<void> {
  const { random, database } = options;
  const now = database.clock.now();
  const { active } = (await findRunnable(em, sampleBot)) ?? {};
  const bot = active
    ? await createPluginBot(
        em,
        {
          accountId,
          name: active.manifest.name,
          description: active.manifest.description,
          pluginId: sampleBot,
          config: {},
          hearing: hearingOf(active.manifest),
        },
        now,
      )
    : null;
  await createInbox(em, {
    accountId,
    name: 'Demo inbox',
    channelType: 'Channel::Api',
    identifier: random.uuid(),
    agentBotId: bot?.id ?? null,
    now,
  });
}
