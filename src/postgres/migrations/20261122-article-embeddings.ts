import { Migration } from '@mikro-orm/migrations';

/**
 * Passages as vectors, which a model makes of what they mean. `passage_signs` has the sign of each number: comparing bits, of
 * small rows that lie together, is fast enough to do it with every passage of an account. The numbers themselves, which then
 * order the nearest, are in `passage_numbers`. `signs` is null for a passage that the model's server does not take.
 *
 * `embedding_tasks` tells how far an account is: `space` names the server and the model (null: none), `generation` counts the
 * spaces, `done_id` is the last passage that was embedded, `due_at` infinity when there is nothing to do.
 */
export class ArticleEmbeddings extends Migration {
  override up(): void {
    for (const statement of [accounts, tasks, vectors]) this.addSql(statement);
  }
}

const accounts = `
  ALTER TABLE accounts ADD llm_embedding_model text,
    ADD passages_error text, ADD passages_error_since timestamptz, ADD questions_error text, ADD questions_error_since timestamptz,
    ADD CONSTRAINT accounts_llm_embedding CHECK (llm_embedding_model IS NULL OR llm_base_url IS NOT NULL);`;

const tasks = `
  CREATE TABLE embedding_tasks (
    account_id bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    space text,
    generation bigint NOT NULL DEFAULT 0,
    dimensions integer,
    done_id bigint NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    claim bigint NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX embedding_tasks_due ON embedding_tasks (due_at) WHERE due_at < 'infinity';
  INSERT INTO embedding_tasks (account_id) SELECT DISTINCT account_id FROM article_passages;`;

const vectors = `
  ALTER TABLE article_passages ADD CONSTRAINT article_passages_tenant UNIQUE (account_id, id);
  CREATE TABLE passage_signs (
    account_id bigint NOT NULL,
    passage_id bigint NOT NULL,
    generation bigint NOT NULL,
    language text NOT NULL,
    tags text[] NOT NULL,
    signs varbit,
    PRIMARY KEY (account_id, passage_id),
    CONSTRAINT passage_signs_passage FOREIGN KEY (account_id, passage_id)
      REFERENCES article_passages (account_id, id) ON DELETE CASCADE
  );
  ALTER TABLE passage_signs ALTER signs SET STORAGE PLAIN;
  CREATE TABLE passage_numbers (
    account_id bigint NOT NULL,
    passage_id bigint NOT NULL,
    numbers bytea NOT NULL,
    PRIMARY KEY (account_id, passage_id),
    CONSTRAINT passage_numbers_signs FOREIGN KEY (account_id, passage_id)
      REFERENCES passage_signs (account_id, passage_id) ON DELETE CASCADE
  );
  ALTER TABLE passage_numbers ALTER numbers SET STORAGE EXTERNAL;`;
