import { SecretUnreadableError, type SecretBox } from '../../lib/secrets/secret-box.ts';
import type { Sql } from '../../postgres/sql.ts';

// The word itself has no meaning: what matters is whether it can be opened.
const word = 'switchboard';

// For installations that are older than the sealed word, any secret serves as well.
const anySecretStatement = `
  (SELECT secret FROM webhooks LIMIT 1) UNION ALL (SELECT secret FROM agent_bots WHERE secret IS NOT NULL LIMIT 1) LIMIT 1`;

/**
 * Whether the box opens the secrets of this database. The first start stores a sealed word, so that a different key is
 * noticed before anything is sealed with it. Of two concurrent first starts one stores its word; the other compares.
 */
export async function opensSecrets(sql: Sql, box: SecretBox): Promise<boolean> {
  const known = await sealedWord(sql);
  if (known !== null) return opens(box, known);
  const [any] = await sql<{ secret: string }>(anySecretStatement);
  if (any && !opens(box, any.secret)) return false;
  await sql('INSERT INTO installation (sealed_word) VALUES ($1) ON CONFLICT DO NOTHING', [box.seal(word)]);
  const kept = await sealedWord(sql);
  return kept !== null && opens(box, kept);
}

async function sealedWord(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ sealed_word: string }>('SELECT sealed_word FROM installation');
  return row?.sealed_word ?? null;
}

function opens(box: SecretBox, sealed: string): boolean {
  try {
    box.open(sealed);
    return true;
  } catch (error) {
    if (error instanceof SecretUnreadableError) return false;
    throw error;
  }
}
