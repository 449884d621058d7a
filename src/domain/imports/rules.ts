import { invalid } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import { createAutomation, updateAutomation } from '../bots/automations.ts';
import { addMacro, type NewMacro } from '../macros.ts';
import { copy, type Copied, type Origin } from './settings.ts';

/** A rule of the plugin `rules`; `active` says whether it is on within its automation. */
export type ImportedRule = Record<string, unknown>;

/** Rules that an automation can have at most, as the plugin says. */
const rulesEach = 50;

interface Room {
  id: number;
  active: boolean;
  config: { rules: ImportedRule[] };
}

/**
 * Copies a rule, once, to the end of an automation that has the copies of the import's rules, and is off until somebody turns it
 * on. A rule that comes later is off within an automation that is on. Errors: 422 without the plugin `rules`, and for a rule that
 * it refuses.
 */
export function importRule(
  tx: Transaction,
  services: { secretBox: SecretBox },
  record: Origin,
  { name, rule }: { name: string; rule: ImportedRule },
): Promise<Copied> {
  return copy(tx, record, 'automation_rule', async () => {
    const found = await findRoom(tx, record.importId);
    if (!found) {
      const made = { name, plugin_id: 'rules', config: { rules: [rule] }, active: false };
      return { outcome: 'created', localId: (await createAutomation(tx, services, made)).id };
    }
    const { id, active, config } = found;
    const rules = [...config.rules, active ? { ...rule, active: false } : rule];
    await updateAutomation(tx, services, id, { config: { ...config, rules } });
    return { outcome: 'created', localId: id };
  });
}

/**
 * Copies a macro, once. A global one whose author is no agent here becomes that of an administrator. Errors: 422 for a personal
 * one without its author, for actions that cannot be run, and for too many macros.
 */
export function importMacro(
  tx: Transaction,
  record: Origin,
  { macro, authorId }: { macro: NewMacro; authorId: number | null },
): Promise<Copied> {
  return copy(tx, record, 'macro', async () => {
    const ownerId = authorId ?? (macro.visibility === 'global' ? await findAdministrator(tx) : null);
    if (ownerId === null) throw invalid('', 'foreign', 'it is personal, and its author is no agent here');
    return { outcome: 'created', localId: (await addMacro(tx, ownerId, macro)).id };
  });
}

// Automations that are deleted here stay deleted: rules that come later make another one.
async function findRoom(tx: Transaction, importId: number): Promise<Room | undefined> {
  const [room] = await tx.sql<Room>(
    `SELECT b.id, b.active, b.config FROM agent_bots b
     WHERE b.account_id = $1 AND b.kind = 'automation' AND b.plugin_id = 'rules'
       AND jsonb_array_length(b.config -> 'rules') < $3 AND b.id IN (
         SELECT i.local_id FROM imported i
         WHERE i.account_id = $1 AND i.import_id = $2 AND i.kind = 'automation_rule')
     ORDER BY b.id DESC LIMIT 1 FOR UPDATE`,
    [tx.account.id, importId, rulesEach],
  );
  return room;
}

async function findAdministrator(tx: Transaction): Promise<number | null> {
  const [agent] = await tx.sql<{ user_id: number }>(
    `SELECT user_id FROM agents WHERE account_id = $1 AND role = 'administrator' ORDER BY user_id LIMIT 1`,
    [tx.account.id],
  );
  return agent?.user_id ?? null;
}
