import { api } from './api.ts';
import { cli } from './cli.ts';
import { domainBots } from './domain-bots.ts';
import { domainConversations } from './domain-conversations.ts';
import { domainPeople } from './domain-people.ts';
import { domainUpkeep } from './domain-upkeep.ts';
import { engine } from './engine.ts';
import { entities } from './entities.ts';
import { events } from './events.ts';
import { http } from './http.ts';
import { jobs } from './jobs.ts';
import { lib } from './lib.ts';
import { migrations } from './migrations.ts';
import { root } from './root.ts';
import { runtime } from './runtime.ts';
import type { Mutant } from './mutant.ts';

/** Every planted mistake. */
export const mutants: readonly Mutant[] = [
  ...domainConversations,
  ...domainBots,
  ...domainPeople,
  ...domainUpkeep,
  ...entities,
  ...engine,
  ...events,
  ...http,
  ...api,
  ...jobs,
  ...lib,
  ...runtime,
  ...cli,
  ...root,
  ...migrations,
];
