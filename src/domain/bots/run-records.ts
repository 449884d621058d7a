import type { Transaction } from '../../events/transaction.ts';
import { prepared } from '../../postgres/prepared.ts';
import { forgetFailures } from './quarantine.ts';
import { storableJson, storableText, storableTextOrNull } from '../../lib/text/storable.ts';

/**
 * Input, decisions and output of a run: with the bundle of `bundleHash` and the event it can be repeated exactly. `config`
 * has no secret settings; texts in `calls` and `logs` that equal a secret are replaced.
 */
export interface BotRun {
  botId: number;
  /** Null for an event without a conversation. */
  conversationId: number | null;
  eventId: number;
  /** The number of the attempt to deliver the event. */
  attempt: number;
  pluginId: string;
  pluginVersion: string;
  bundleHash: string;
  config: Record<string, unknown>;
  /** Permissions and limits of the manifest; null when no plugin was there. */
  permissions: object | null;
  limits: object | null;
  seed: number;
  clock: Date;
  /** Calls to the service in order: `{name, input, output | error, ms}`. */
  calls: readonly object[];
  outcome: string;
  actions: readonly unknown[];
  logs: readonly unknown[];
  error: { message: string; stack: string | null } | null;
  cpuMs: number;
  /** Tokens of models, as their servers counted them. */
  promptTokens: number;
  completionTokens: number;
  /** Whether the run handed the conversation off, also by its failure. */
  handedOff: boolean;
  wallMs: number;
  /** The messages that the bot got, in its event and its history. */
  messageIds: readonly number[];
}

const maxErrorChars = 4096;
// Names and versions from a plugin's manifest.
const maxNameChars = 255;

// A message that was deleted during the run, after the run had read it, must not be in the record. A message of files alone
// has no content either, but is not deleted.
const read = `read AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM messages WHERE account_id = $1 AND id = ANY ($23::bigint[])
    AND content = '' AND content_attributes ? 'deleted') AS gone)`;
const unlessGone = (value: string, type: 'json' | 'text'): string =>
  `(SELECT CASE WHEN gone THEN ${type === 'json' ? `'[]'::json` : 'NULL'} ELSE ${value}::${type} END FROM read)`;
const insertion = `INSERT INTO bot_runs (account_id, agent_bot_id, conversation_id, event_id, attempt, plugin_id,
  plugin_version, bundle_hash, config, seed, clock, outcome, actions, logs, error, wall_ms, created_at, calls, permissions,
  limits, error_stack, cpu_ms, erased_at, prompt_tokens, completion_tokens, handed_off)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, ${unlessGone('$13', 'json')}, ${unlessGone('$14', 'json')},
    ${unlessGone('$15', 'text')}, $16, $17, ${unlessGone('$18', 'json')}, $19, $20, ${unlessGone('$21', 'text')}, $22,
    (SELECT $17::timestamptz FROM read WHERE gone), $24, $25, $26)`;
const keepStatement = prepared(`WITH ${read} ${insertion}`);
const keepGoodStatement = prepared(`WITH ${read}, forgotten AS (${forgetFailures('$2')}) ${insertion}`);

/**
 * Stores the record of a run with the commit of its effects. Text and JSON from the plugin are made storable first: a
 * failed insert would undo the run, and the run would start again.
 */
export function keepRun(tx: Transaction, run: BotRun): void {
  keep(tx, run, keepStatement);
}

/** Stores the record of a successful run, which ends the bot's quarantine and makes its failures count from zero again. */
export function keepGoodRun(tx: Transaction, run: BotRun): void {
  keep(tx, run, keepGoodStatement);
}

function keep(tx: Transaction, run: BotRun, text: string): void {
  const parameters = [
    tx.account.id,
    run.botId,
    run.conversationId,
    run.eventId,
    run.attempt,
    storableText(run.pluginId, maxNameChars),
    storableText(run.pluginVersion, maxNameChars),
    run.bundleHash,
    storableJson(run.config),
    run.seed,
    run.clock,
    run.outcome,
    storableJson(run.actions),
    storableJson(run.logs),
    storableTextOrNull(run.error?.message ?? null, maxErrorChars),
    Math.round(run.wallMs),
    tx.now,
    storableJson(run.calls),
    run.permissions && storableJson(run.permissions),
    run.limits && storableJson(run.limits),
    storableTextOrNull(run.error?.stack ?? null, maxErrorChars),
    Math.round(run.cpuMs),
    run.messageIds,
    run.promptTokens,
    run.completionTokens,
    run.handedOff,
  ];
  tx.atCommit({ text, parameters });
  tx.announce('run', { plugin: run.pluginId, outcome: run.outcome, cpuSeconds: run.cpuMs / 1000 });
}
