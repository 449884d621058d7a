import { Migration } from '@mikro-orm/migrations';

/** What visitors of the widget tell about themselves stands apart, and who they say they are is proven or not taken. */
export class VisitorIdentity extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
      ALTER TABLE contacts ADD COLUMN visitor_attributes jsonb NOT NULL DEFAULT '{}';
      ALTER TABLE inboxes ADD COLUMN identity_secret text,
        ADD COLUMN previous_identity_secret text,
        ADD COLUMN previous_identity_secret_expires_at timestamptz`);
  }
}
