import { Migration } from '@mikro-orm/migrations';

/** Tickets with which a web page opens a stream of events once: browsers send no headers with an EventSource. */
export class StreamTickets extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE stream_tickets (
        ticket_hash bytea NOT NULL,
        account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
        token_id bigint NOT NULL REFERENCES access_tokens ON DELETE CASCADE,
        expires_at timestamptz NOT NULL,
        CONSTRAINT stream_tickets_hash_unique UNIQUE (ticket_hash)
      );
      CREATE INDEX stream_tickets_by_token ON stream_tickets (token_id);
      CREATE INDEX stream_tickets_by_account ON stream_tickets (account_id);
      CREATE INDEX stream_tickets_by_age ON stream_tickets (expires_at);
    `);
  }
}
