import type { Sql } from '../../../postgres/sql.ts';
import { signsOf, similarity } from './vectors.ts';

/** A question as a vector, with the bounds of its comparison. */
export interface Meaning {
  /** The server and the model that made the vector: only what they made can be compared with it. */
  space: string;
  vector: readonly number[];
  /** The cosine from which on a passage is found. */
  least: number;
  /** Passages of the account that are compared at most: the ones written last. */
  compared: number;
}

/** A passage whose vector is near that of a question. */
export interface SimilarPassage {
  id: number;
  article_id: number;
  /** A cosine. */
  similarity: number;
}

// The signs alone order passages well enough that the nearest ones are among so many.
const candidates = 200;

// Signs are compared only where there are as many: those of one generation have the length that the task says. The bound is a
// number of the first passage, since putting all of them in order first would take longer than comparing them; what the nearest
// ones have is read one by one, whatever the planner knows of the tables.
const statement = `
  WITH near AS MATERIALIZED (
    SELECT v.passage_id, bit_count(v.signs # $3::varbit) AS distance FROM passage_signs v
    WHERE v.account_id = $1 AND v.generation = (
        SELECT generation FROM embedding_tasks WHERE account_id = $1 AND space = $2 AND dimensions = length($3::varbit))
      AND v.passage_id > coalesce((
        SELECT passage_id FROM passage_signs WHERE account_id = $1 ORDER BY passage_id DESC OFFSET $6 LIMIT 1), 0)
      AND v.signs IS NOT NULL
      AND (cardinality($4::text[]) = 0 OR v.tags && $4::text[])
      AND (cardinality($5::text[]) = 0 OR EXISTS (
        SELECT FROM unnest($5::text[]) AS wanted
        WHERE lower(v.language) = lower(wanted) OR starts_with(lower(v.language), lower(wanted) || '-')))
    ORDER BY distance, v.passage_id LIMIT ${candidates}
  )
  SELECT near.passage_id AS id,
    (SELECT article_id FROM article_passages WHERE account_id = $1 AND id = near.passage_id) AS article_id,
    (SELECT numbers FROM passage_numbers WHERE account_id = $1 AND passage_id = near.passage_id) AS numbers
  FROM near`;

/** The passages of the account that mean most nearly what a question means: one of each article, the nearest first. */
export async function findSimilar(
  sql: Sql,
  accountId: number,
  { space, vector, least, compared }: Meaning,
  { tags, languages, limit }: { tags: readonly string[]; languages: readonly string[]; limit: number },
): Promise<SimilarPassage[]> {
  const parameters = [accountId, space, signsOf(vector), tags, languages, compared];
  const rows = await sql<{ id: number; article_id: number; numbers: Buffer }>(statement, parameters);
  const near = rows
    .map(({ numbers, ...row }) => ({ ...row, similarity: similarity(vector, numbers) }))
    .filter((one) => one.similarity >= least)
    .sort((one, other) => other.similarity - one.similarity || one.id - other.id);
  const best = new Map<number, SimilarPassage>();
  for (const one of near) if (!best.has(one.article_id)) best.set(one.article_id, one);
  return [...best.values()].slice(0, limit);
}
