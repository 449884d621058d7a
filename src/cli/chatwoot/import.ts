import { findRow } from '../../domain/small-rows.ts';
import { checkSecretKey } from '../../app/start/check-secret-key.ts';
import { objectStoreOf } from '../../app/parts/object-store.ts';
import { chatwootTokenIn } from '../../config.ts';
import { AttachmentStore } from '../../domain/attachments/store.ts';
import { system, transact, type Transact } from '../../events/transaction.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { openGate } from '../../lib/outbound-gate.ts';
import { systemRandom } from '../../lib/ports.ts';
import { createSecretBox, newWebhookSecret } from '../../lib/secrets/secret-box.ts';
import type { Database } from '../../postgres/database.ts';
import { isMigrated } from '../../postgres/migrations/index.ts';
import { Account } from '../../records/account.ts';
import { onSignals } from '../terminal/on-signals.ts';
import { printAnswer } from '../terminal/print.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';
import { openDatabase, withDatabase, type CommandContext } from '../database/with-database.ts';
import { ChatwootClient } from './client.ts';
import { copyContacts } from './copy/contacts.ts';
import { copyConversations } from './copy/conversations.ts';
import { copyMissingFiles } from './copy/missing-files.ts';
import { copyMissingMessages } from './copy/missing-messages.ts';
import { copyNotes } from './copy/notes.ts';
import { copySettings } from './copy/settings.ts';
import type { Copying } from './copying.ts';
import { FileCopier } from './files.ts';
import { countOthers, look } from './look.ts';
import { openImport, type Continuing } from './open.ts';
import { findAccount } from './profile.ts';
import { linesOf, Reporter } from './report.ts';

export interface ChatwootOptions extends Continuing {
  url: string;
  token?: string;
  /** The Chatwoot account; by default the only one of the token's owner. */
  account?: number;
  /** The account here. */
  into: number;
  allowPrivate?: boolean;
  /** Host that stores Chatwoot's files, which may be at a private address then. */
  filesHost?: string;
  dryRun?: boolean;
  attachments: boolean;
  /** Whether clients are admitted by the identifier that they had in Chatwoot. */
  admitClients?: boolean;
  /** Whether files that are gone in Chatwoot are accepted as missing. */
  acceptMissing?: boolean;
  retryPause: number;
  json?: boolean;
}

/**
 * The command `import chatwoot`: copies a Chatwoot account into an account here. Each copy is recorded in its own transaction,
 * so the same command continues after an interruption. Exits with 1 if records were left out.
 */
export async function importChatwoot(options: ChatwootOptions): Promise<void> {
  const token = options.token ?? chatwootTokenIn();
  if (token === undefined)
    throw new OperatorError(
      'Whose token? Set CHATWOOT_TOKEN to that of an administrator of the account, or give --token.',
    );
  await withDatabase(
    (context) =>
      openDatabase(context, (database) => run({ ...options, token }, { context, database }), { isPatient: true }),
    { besideService: true },
  );
}

interface Place {
  context: CommandContext;
  database: Database;
}

async function run(options: ChatwootOptions & { token: string }, { context, database }: Place): Promise<void> {
  const { outboundAllowCidrs: allowCidrs } = context.config;
  const into = await readAccount(database, options.into);
  const { url, token, allowPrivate: allowsPrivate = false, retryPause: pauseMs } = options;
  const { stopped, ignoreSignals } = onSignals();
  const client = new ChatwootClient({ url, token, allowsPrivate, allowCidrs, pauseMs, stopped });
  const bar = new ProgressBar();
  try {
    const account = `/accounts/${await findAccount(client, options.account)}`;
    const reporter = new Reporter(client.base + account, into.id, options.dryRun === true);
    const show: Copying['show'] = (step, done, of) =>
      bar.show(of === null ? 0 : done / Math.max(1, of), `${step}: ${done}${of === null ? '' : ` of ${of}`}`);
    if (options.dryRun) await look({ client, account, reporter });
    else await copy({ client, account, reporter, show }, { into, database, context, options, stopped });
    await countOthers({ client, account, reporter });
    bar.end();
    printAnswer(reporter.report, options, linesOf);
    if (reporter.hasLeftOut) process.exitCode = 1;
  } finally {
    bar.end();
    ignoreSignals();
    await client.close();
  }
}

async function readAccount(database: Database, id: number): Promise<{ id: number; name: string }> {
  const sql = database.sql;
  if (!(await isMigrated(sql)))
    throw new OperatorError(
      'This database is of another version: start its service once, or call `switchboard migrate`.',
    );
  const account = await findRow(sql, Account, { id });
  if (!account) throw new OperatorError(`There is no account ${id} here: --into names the account to copy into.`);
  return { id: account.id, name: account.name };
}

interface Target extends Place {
  into: { id: number; name: string };
  options: ChatwootOptions;
  stopped: AbortSignal;
}

async function copy(found: Pick<Copying, 'client' | 'account' | 'reporter' | 'show'>, target: Target): Promise<void> {
  const { into, database, options, stopped } = target;
  const secretBox = createSecretBox(target.context.config.secretKey, systemRandom);
  await checkSecretKey(database, secretBox);
  const here: Transact = (work) => transact(database, { account: into, actor: system }, work);
  const importId = await here((tx) => openImport(tx, found.reporter.report.source, options));
  const files = options.attachments ? fileCopier(found.client, target) : null;
  const ports = { transact: here, clock: database.clock, random: systemRandom };
  const { admitClients: admitsClients = false, acceptMissing: acceptsMissing = false } = options;
  const sealNewSecret = (): string => secretBox.seal(newWebhookSecret(systemRandom));
  const secrets = { secretBox, sealNewSecret };
  const copying = { ...found, ...ports, ...secrets, importId, files, stopped, admitsClients, acceptsMissing };
  try {
    const settings = await copySettings(copying);
    await copyContacts(copying, settings);
    await copyMissingFiles(copying);
    await copyConversations(copying, settings);
    await copyMissingMessages(copying, settings);
    await copyNotes(copying, settings);
  } finally {
    await files?.close();
  }
  compare(found.reporter);
}

function fileCopier({ base }: ChatwootClient, { into, database, context, options, stopped }: Target): FileCopier {
  const { config, log } = context;
  const { attachmentBytes: bytes, attachmentsPerMessage: perMessage } = config;
  const objects = objectStoreOf(config, { clock: database.clock, gate: openGate });
  const failed = (error: unknown): void => log.error({ err: error }, 'store of files');
  return new FileCopier({
    store: new AttachmentStore({ bytes, perMessage }, { objects, random: systemRandom, failed }),
    objects,
    withConnection: (work) => work(database.sql),
    accountId: into.id,
    origin: new URL(base).origin,
    filesHost: options.filesHost?.toLowerCase() ?? null,
    allowsPrivate: options.allowPrivate ?? false,
    allowCidrs: config.outboundAllowCidrs,
    pauseMs: options.retryPause,
    stopped,
  });
}

// Records that were created during this run, or moved to a page that was read already, come with the next run.
function compare(reporter: Reporter): void {
  const { contacts, conversations } = reporter.report.counts;
  for (const [what, count] of Object.entries({ contacts, conversations })) {
    const here = count.created + count.updated + count.unchanged + count.left_out;
    if (count.theirs !== null && here < count.theirs)
      reporter.hint(`${count.theirs - here} ${what} of theirs were not seen: the same command goes on with them.`);
  }
  reporter.hint('Until everybody works here, the same command copies what is new there; what is worked on here stays.');
}
