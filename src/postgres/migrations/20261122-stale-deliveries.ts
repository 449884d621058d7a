import { Migration } from '@mikro-orm/migrations';

/** What a statement calls that settles a delivery and finds that it may not: COMMIT, sent with it, is not run then. */
export class StaleDeliveries extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
  CREATE FUNCTION refuse_stale_delivery() RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION USING ERRCODE = 'STALE', MESSAGE = 'the delivery is no longer claimed under this lease';
  END $$;`);
  }
}
