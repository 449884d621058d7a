import { Migration } from '@mikro-orm/migrations';

/** What a statement calls that finds that its transaction presumed something wrong: the statements sent with it are not run then. */
export class Presumptions extends Migration {
  override up(): void {
    this.addSql(`
  CREATE FUNCTION refuse_presumption() RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION USING ERRCODE = 'AMISS', MESSAGE = 'what the transaction presumed is not so';
  END $$;`);
  }
}
