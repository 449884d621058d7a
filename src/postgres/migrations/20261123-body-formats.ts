import { Migration } from '@mikro-orm/migrations';

/**
 * Webhooks and bots may want bodies in another format than the default. Such a body is stored beside the others of its event,
 * where a subscriber wanted it at the commit, and each delivery keeps the format that its endpoint had then.
 */
export class BodyFormats extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE webhooks ADD format text NOT NULL DEFAULT 'default'
        CONSTRAINT webhooks_format CHECK (format IN ('default', 'chatwoot'));
      ALTER TABLE agent_bots ADD format text NOT NULL DEFAULT 'default'
        CONSTRAINT agent_bots_format CHECK (format IN ('default', 'chatwoot'));
      ALTER TABLE events ADD chatwoot_payload json;
      ALTER TABLE deliveries ADD format text;

      CREATE FUNCTION refuse_unformatted() RETURNS text LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION USING ERRCODE = 'NOFMT', MESSAGE = 'a subscriber wants a body of the event in another format';
      END $$;
    `);
  }
}
