import { api } from './api.ts';
import { attachments } from './attachments.ts';
import { chat } from './chat.ts';
import { reports } from './reports.ts';
import { articles } from './articles.ts';
import { cli } from './cli.ts';
import { clients } from './clients.ts';
import { compat } from './compat.ts';
import { bots } from './bots.ts';
import { consoleActivity } from './console-activity.ts';
import { consoleWebhooks } from './console-webhooks.ts';
import { consoleBots } from './console-bots.ts';
import { consolePages } from './console-pages.ts';
import { consoleKit } from './console-kit.ts';
import { consolePeople } from './console-people.ts';
import { conversations } from './conversations.ts';
import { people } from './people.ts';
import { web } from './web.ts';
import { plugins } from './plugins.ts';
import { upkeep } from './upkeep.ts';
import { demo } from './demo.ts';
import { deliveries } from './deliveries.ts';
import { records } from './records.ts';
import { endpoints } from './endpoints.ts';
import { events } from './events.ts';
import { fieldClients } from './field-clients.ts';
import { formats } from './formats.ts';
import { http } from './http.ts';
import { imports } from './imports.ts';
import { jobs } from './jobs.ts';
import { knowledgePages } from './knowledge-pages.ts';
import { lib } from './lib.ts';
import { late } from './late.ts';
import { migrations } from './migrations.ts';
import { models } from './models.ts';
import { root } from './root.ts';
import { runRecords } from './run-records.ts';
import { runs } from './runs.ts';
import { sleepingStreams } from './sleeping-streams.ts';
import { testing } from './testing.ts';
import type { Mutant } from './mutant.ts';

/** Every planted mistake. */
export const mutants: readonly Mutant[] = [
  ...articles,
  ...reports,
  ...attachments,
  ...conversations,
  ...bots,
  ...consoleBots,
  ...consolePages,
  ...consoleKit,
  ...consolePeople,
  ...people,
  ...plugins,
  ...upkeep,
  ...web,
  ...records,
  ...deliveries,
  ...demo,
  ...endpoints,
  ...events,
  ...formats,
  ...http,
  ...imports,
  ...api,
  ...clients,
  ...compat,
  ...fieldClients,
  ...jobs,
  ...lib,
  ...runs,
  ...models,
  ...runRecords,
  ...cli,
  ...testing,
  ...root,
  ...migrations,
  ...consoleActivity,
  ...consoleWebhooks,
  ...knowledgePages,
  ...sleepingStreams,
  ...chat,
  ...late,
];
