/**
 * Passages as vectors, which a model makes of their meaning. `passage_signs` has the sign of each number: comparing bits, of
 * small rows that lie together, is fast enough to do it with every passage of an account. The numbers themselves, which then
 * order the nearest, are in `passage_numbers`. `signs` is null for a passage that the model's server does not take.
 *
 * `embedding_tasks` tells how far an account is: `space` names the server and the model (null: none), `generation` counts the
 * spaces, `done_id` is the last passage that was embedded, `due_at` infinity when there is nothing to do. `changes` counts how
 * often the model has changed the length of its vectors since a moment, which stops after a few times within a day.
 */
export const embeddings = `
  CREATE TABLE embedding_tasks (
    account_id bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    space text,
    generation bigint NOT NULL DEFAULT 0,
    dimensions integer,
    done_id bigint NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    claim bigint NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT now(),
    changes integer NOT NULL DEFAULT 0,
    changes_since timestamptz
  );
  CREATE INDEX embedding_tasks_due ON embedding_tasks (due_at) WHERE due_at < 'infinity';
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
