import { defineEntity, p } from '@mikro-orm/core';

const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: p.bigint('number').primary(),
    name: p.text(),
    llmBaseUrl: p.text().nullable(),
    llmModel: p.text().nullable(),
    llmApiKey: p.text().nullable(),
    llmEmbeddingModel: p.text().nullable(),
    passagesError: p.text().nullable(),
    passagesErrorSince: p.datetime().nullable(),
    questionsError: p.text().nullable(),
    questionsErrorSince: p.datetime().nullable(),
    approvedHosts: p.array().columnType('text[]').$type<string[]>().defaultRaw(`'{}'`),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/**
 * A tenant: everything but users, system bots and access tokens belongs to one. `llmBaseUrl` and `llmModel` are its model
 * server, null for the service's own; `llmApiKey` is sealed. `passagesError` and `questionsError` are why the passages of
 * articles, or the questions of searches, cannot be embedded although there is a model for it; null when they can.
 * `approvedHosts` are `name` or `name:port`, which tools of its bots may call.
 */
export class Account extends AccountSchema.class {
  static readonly noun = 'Account';
}
AccountSchema.setClass(Account);
