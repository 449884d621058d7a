/** Tables without a tenant, and why. */
export const shared: Readonly<Record<string, string>> = {
  accounts: 'the tenants themselves',
  users: 'a person may belong to several accounts',
  access_tokens: 'belongs to a user, a bot or a webhook, which are looked up by it before an account is known',
  sign_in_links: 'lets a person in, who may belong to several accounts',
  passwords: 'a person signs in with it, who may belong to several accounts',
  second_factors: 'of a person, who may belong to several accounts',
  wrong_tries: 'counts tries of people, and of addresses that are of nobody',
  idempotency_keys: 'belongs to who sent the request, before an account is known',
  migrations: 'the database as a whole',
  installation: 'the database as a whole',
  plugins: 'plugins are installed for all accounts',
  plugin_bundles: 'plugins are installed for all accounts',
  plugin_registry: 'plugins are installed for all accounts',
  discarded_objects: 'outlives the account whose files they were',
  agenda_jobs: 'alarms ring for all accounts',
  report_progress: 'how far the attempts of all accounts are counted',
};
