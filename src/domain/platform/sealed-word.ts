import { SecretUnreadableError, type SecretBox } from '../../lib/secret-box.ts';
import { sql, type Executor } from '../../postgres/sql.ts';

// What it says means nothing: that it opens does.
const word = 'switchboard';

// An installation from before there was a word tells as much by any secret.
const anySecretStatement = `
  (SELECT secret FROM webhooks LIMIT 1) UNION ALL (SELECT secret FROM agent_bots WHERE secret IS NOT NULL LIMIT 1) LIMIT 1`;

async function sealedWord(executor: Executor): Promise<string | null> {
  const [row] = await sql<{ sealed_word: string }>(executor, 'SELECT sealed_word FROM installation');
  return row?.sealed_word ?? null;
}

/**
 * Whether the box opens what this database keeps sealed. The first start seals a word, so that another key is noticed
 * before anything was sealed with it; of two first starts at once, one keeps its word and the other is told.
 */
export async function opensSecrets(executor: Executor, box: SecretBox): Promise<boolean> {
  const known = await sealedWord(executor);
  if (known !== null) return opens(box, known);
  const [any] = await sql<{ secret: string }>(executor, anySecretStatement);
  if (any && !opens(box, any.secret)) return false;
  await sql(executor, 'INSERT INTO installation (sealed_word) VALUES ($1) ON CONFLICT DO NOTHING', [box.seal(word)]);
  const kept = await sealedWord(executor);
  return kept !== null && opens(box, kept);
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
