import { opensSecrets } from '../../domain/platform/sealed-word.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import type { Database } from '../../postgres/database.ts';

/** Throws OperatorError when the database's secrets were sealed with another key: every delivery would fail silently. */
export async function checkSecretKey(database: Database, secretBox: SecretBox): Promise<void> {
  if (await opensSecrets(database.sql, secretBox)) return;
  throw new OperatorError(
    'The secrets in this database were sealed with another SECRET_KEY (on the embedded database: DATA_DIR/secret-key). Start with that one.',
  );
}
