/**
 * `installation` has one row about the database as a whole, made by the first start: where it lives (the server's system
 * identifier, the database's number there), and the PUBLIC_URL that it last sent with; null until that is known. `accounts.llm_…` name an account's own
 * model server (null: that of the service); the API key is sealed.
 */
export const accounts = `
  CREATE TABLE installation (
    id boolean PRIMARY KEY DEFAULT true CHECK (id),
    sealed_word text NOT NULL,
    system_identifier text,
    database_oid bigint,
    public_url text,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  ALTER TABLE accounts ADD llm_base_url text, ADD llm_model text, ADD llm_api_key text, ADD llm_embedding_model text,
    ADD passages_error text, ADD passages_error_since timestamptz,
    ADD questions_error text, ADD questions_error_since timestamptz,
    ADD approved_hosts text[] NOT NULL DEFAULT '{}',
    ADD CONSTRAINT accounts_llm CHECK ((llm_base_url IS NULL) = (llm_model IS NULL)
      AND (llm_api_key IS NULL OR llm_base_url IS NOT NULL)),
    ADD CONSTRAINT accounts_llm_embedding CHECK (llm_embedding_model IS NULL OR llm_base_url IS NOT NULL);`;
