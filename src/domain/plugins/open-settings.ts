import type { OuterTransaction } from '../../events/transaction.ts';
import type { Manifest } from '../../packages/manifest/manifest.ts';
import { partOfRowSql } from '../../records/bots/part.ts';
import { secretSettings } from '../../packages/manifest/secret-settings.ts';

/** Seals a text that is to be stored. */
export type Seal = (text: string) => string;

interface Row {
  id: number;
  config: Record<string, unknown>;
}

const pageSize = 500;
const findStatement = `
  SELECT id, config FROM agent_bots
  WHERE plugin_id = $1 AND ${partOfRowSql('kind')} = $3 AND jsonb_exists_any(config, $2::text[]) ORDER BY id LIMIT ${pageSize}`;
const sealStatement = `
  UPDATE agent_bots SET config = config - $2::text[], secrets = secrets || $3::jsonb, updated_at = $4 WHERE id = $1`;

/**
 * Makes secrets of the bots' settings that are stored in the open and that the manifest marks as secret: they are sealed, in
 * place of older secrets of the same names. What is no text is kept as JSON. No bot of the plugin gets settings meanwhile.
 */
export async function sealOpenSettings({ sql, now }: OuterTransaction, manifest: Manifest, seal: Seal): Promise<void> {
  const names = secretSettings(manifest.config);
  if (names.length === 0) return;
  for (;;) {
    const bots = await sql<Row>(findStatement, [manifest.id, names, manifest.kind]);
    for (const { id, config } of bots) await sql(sealStatement, [id, names, sealed(config, names, seal), now]);
    if (bots.length < pageSize) return;
  }
}

function sealed(config: Row['config'], names: readonly string[], seal: Seal): string {
  const open = names.map((name) => [name, config[name] ?? null] as const).filter(([, value]) => value !== null);
  const texts = open.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const);
  return JSON.stringify(Object.fromEntries(texts.map(([name, text]) => [name, seal(text)])));
}
