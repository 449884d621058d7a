import { defineEntity, p } from '@mikro-orm/core';

/** The hours of one weekday; 0 is Sunday. Hours are null when closed or open all day. */
export interface WorkingDay {
  day_of_week: number;
  closed_all_day: boolean;
  open_all_day: boolean;
  open_hour: number | null;
  open_minutes: number | null;
  close_hour: number | null;
  close_minutes: number | null;
}

const InboxSchema = defineEntity({
  name: 'Inbox',
  tableName: 'inboxes',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    name: p.text(),
    channelType: p.text(),
    identifier: p.text(),
    allowedOrigins: p.array().columnType('text[]').$type<string[]>().defaultRaw(`'{}'`),
    agentBotId: p.bigint('number').nullable(),
    channelId: p.bigint('number').nullable(),
    pluginId: p.text().nullable(),
    greetingEnabled: p.boolean().default(false),
    greetingMessage: p.text().nullable(),
    enableAutoAssignment: p.boolean().default(false),
    timezone: p.text().default('UTC'),
    workingHoursEnabled: p.boolean().default(false),
    workingHours: p.json<WorkingDay[]>().defaultRaw(`'[]'`),
    outOfOfficeMessage: p.text().nullable(),
    csatSurveyEnabled: p.boolean().default(false),
    avatarUrl: p.text().nullable(),
    /** Sealed; null until one is created. */
    identitySecret: p.text().nullable(),
    /** Valid until it expires. */
    previousIdentitySecret: p.text().nullable(),
    previousIdentitySecretExpiresAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/**
 * A channel's connection to the account; `agentBotId` is its bot. `channelId` is the row of agent_bots that connects it by the plugin
 * `pluginId`; both null for inboxes without one. Empty `workingHours` stand for the usual week.
 */
export class Inbox extends InboxSchema.class {
  static readonly noun = 'Inbox';
}
InboxSchema.setClass(Inbox);
