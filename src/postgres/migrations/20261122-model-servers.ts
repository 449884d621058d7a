import { Migration } from '@mikro-orm/migrations';

/** Model servers of accounts: all null where the service's own is asked. The API key is sealed; null where there is none. */
export class ModelServers extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE accounts ADD llm_base_url text, ADD llm_model text, ADD llm_api_key text,
        ADD CONSTRAINT accounts_llm CHECK ((llm_base_url IS NULL) = (llm_model IS NULL)
          AND (llm_api_key IS NULL OR llm_base_url IS NOT NULL))`);
  }
}
