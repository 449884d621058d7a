import { Migration } from '@mikro-orm/migrations';

/**
 * Authors of another service who worked there no more were noted as agents, so that they could never become agents here. Their
 * seats have an address that nobody can have.
 */
export class FormerAuthors extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE imported DROP CONSTRAINT imported_kind_check;
      ALTER TABLE imported ADD CONSTRAINT imported_kind_check
        CHECK (kind IN ('inbox', 'agent', 'author', 'team', 'label', 'contact', 'conversation'));
      UPDATE imported i SET kind = 'author' FROM seats s
        WHERE i.kind = 'agent' AND s.account_id = i.account_id AND s.id = i.local_id
          AND s.email = 'agent-' || i.foreign_id || '@chatwoot.invalid';
      DROP INDEX imported_agents;
      CREATE INDEX imported_seats ON imported (account_id, local_id) WHERE kind IN ('agent', 'author');
    `);
  }
}
