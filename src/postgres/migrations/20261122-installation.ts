import { Migration } from '@mikro-orm/migrations';

/** What is true of the database as a whole: one row, made by the first start. */
export class Installation extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
      CREATE TABLE installation (
        id boolean PRIMARY KEY DEFAULT true CHECK (id),
        sealed_word text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
  }
}
