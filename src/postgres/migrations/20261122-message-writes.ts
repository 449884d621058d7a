import { Migration } from '@mikro-orm/migrations';

/**
 * What a message wrote for nobody's sake: an entry in each index of its contact, because the contact's last activity stood in
 * one of them; and a lock on the account's row, which all messages of the account shared.
 */
export class MessageWrites extends Migration {
  override async up(): Promise<void> {
    for (const statement of [activity, accounts]) this.addSql(statement);
  }
}

// The list is ordered by five minutes from the index, and within them by sorting. A contact that was active in them already
// changes no index, if its page has room. Contacts that were never active come first, by their ids.
const activity = `
  DROP INDEX contacts_by_activity;
  ALTER TABLE contacts SET (fillfactor = 80);
  ALTER TABLE contacts ADD COLUMN activity_order bigint NOT NULL GENERATED ALWAYS AS (
    CASE WHEN last_activity_at IS NULL THEN id - 4611686018427387904
      ELSE floor(extract(epoch FROM last_activity_at - timestamptz '2000-01-01 00:00:00+00') / 300)::bigint END) STORED;
  CREATE INDEX contacts_by_activity ON contacts (account_id, activity_order);`;

// An event falls with its conversation or contact. One that refers to neither, because it tells of their deletion, falls with
// its account.
const accounts = `
  ALTER TABLE events DROP CONSTRAINT events_account_id_fkey, ADD COLUMN lone_account_id bigint;
  UPDATE events SET lone_account_id = account_id WHERE conversation_id IS NULL AND contact_id IS NULL;
  ALTER TABLE events ADD CONSTRAINT events_lone FOREIGN KEY (lone_account_id) REFERENCES accounts ON DELETE CASCADE;
  CREATE INDEX events_lone_index ON events (lone_account_id) WHERE lone_account_id IS NOT NULL;`;
