import { existsSync } from 'node:fs';
import { Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { addServiceCommand } from './add-command.ts';
import type { ListenOptions } from './listen.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { printable } from '../lib/text/printable.ts';
import type { BackupOptions } from './database/backup.ts';
import type { RestoreOptions } from './database/restore.ts';
import { addArticleCommands } from './article-commands.ts';
import { addDeliveryCommands } from './delivery-commands.ts';
import { addEvalCommands } from './eval-commands.ts';
import { addImportCommands } from './import-commands.ts';
import { addPluginCommands } from './plugin-commands.ts';
import { addAuthorCommands } from './plugin/author/author-commands.ts';
import { addRunCommands } from './plugin/runs/run-commands.ts';
import type { ServiceOptions } from './service.ts';
import type { StartOptions } from './start.ts';

/** The command line. Imports a command's module only when the command is called, to start quickly. */
export function createProgram(): Command {
  const program = new Command('switchboard')
    .description('A customer-conversation service that people extend with bots.')
    .version(packageJson.version)
    .addOption(new Option('--parent <pid>').argParser(Number).hideHelp())
    .hook('preAction', readEnvironmentFile)
    .showHelpAfterError('(switchboard --help lists all commands)');
  addStart(program);
  addDatabaseCommands(program);
  addBackups(program);
  addWaysIn(program);
  program
    .command('verify')
    .description(
      'hold the database against the ledger: every event delivered, once and in order; the service may be running',
    )
    .option('--json', 'print the answer as JSON')
    .action(async (options: { json?: boolean }) => (await import('./verify.ts')).verify(options));
  addServiceCommand(program, 'listen', {
    description: 'print events as they are committed, and forward them, signed, to a server of yours',
    example: 'listen --forward http://127.0.0.1:8000/hook',
  })
    .option('--forward <url>', 'POST each event to this URL, as webhooks are')
    .option('--secret <secret>', 'sign with this secret (whsec_…), so that your server keeps it; default: a new one')
    .option('--account <id>', "the account; default: the first one of the token's holder")
    .option('--types <names>', 'names of events, separated by commas; default: all')
    .option('--incoming', 'print, and forward, requests of hooks instead of events')
    .action(async (options: ListenOptions) => (await import('./listen.ts')).listen(options));
  program
    .command('demo')
    .description('show a customer, a bot and a webhook at work in the running service')
    .option('--url <url>', 'where the service listens; default: where the last start said')
    .option('--token <token>', 'an access token of an administrator; default: the one that DEMO left')
    .action(async (options: ServiceOptions) => {
      const [{ demo }, { serviceOf }] = await Promise.all([import('../demo/play.ts'), import('./service.ts')]);
      await demo(serviceOf(options));
    });
  addArticleCommands(program.command('articles').description('import articles of the knowledge base'));
  addImportCommands(program.command('import').description('copy an account of another service'));
  addDeliveryCommands(program);
  addEvalCommands(program);
  const plugin = program.command('plugin').description('write, install and watch plugins of bots');
  addAuthorCommands(plugin);
  addPluginCommands(plugin);
  addRunCommands(plugin);
  return program;
}

function addStart(program: Command): void {
  program
    .command('start')
    .description('run the service; docs/configuration.md describes its environment variables')
    .option('--watch-plugins', 'install plugins in folders again whenever a file changes; for developers')
    .option('--adopt', 'send from this database although it is a copy of an installation that lived elsewhere')
    .option('--timing', 'print how long each phase of the start took, and what it waited for')
    .action(async (options: StartOptions) => (await import('./start.ts')).start(options));
  program
    .command('prepare')
    .description('make in advance what starts need, as npm ci does: pages, plugins, the template of databases')
    .action(async () => (await import('./prepare.ts')).prepare());
}

function addDatabaseCommands(program: Command): void {
  program
    .command('migrate')
    .description('apply the missing migrations to the database')
    .action(async () => (await import('./database/migrate.ts')).migrateDatabase());
  program
    .command('seed')
    .description('set up an empty database with a first administrator and, with DEMO, demonstration data')
    .action(async () => (await import('./database/seed.ts')).seedDatabase());
  program
    .command('neutralize')
    .description(
      'make a copy of an installation harmless: pause all webhooks and servers of bots, replace their secrets, then send',
    )
    .option('--yes', 'do not ask')
    .action(async (options: { yes?: boolean }) => (await import('./database/neutralize.ts')).neutralizeCopy(options));
}

function addBackups(program: Command): void {
  program
    .command('backup')
    .argument('<file>', 'a file that does not exist yet')
    .description('write the database as it is at one moment, files included, into a file; the service may be running')
    .option('--with-key', 'put SECRET_KEY into the backup, sealed with a passphrase')
    .option('--passphrase-file <file>', 'a file with the passphrase, at least 16 characters')
    .action(async (file: string, options: BackupOptions) =>
      (await import('./database/backup.ts')).backUpDatabase(file, options),
    );
  program
    .command('restore')
    .argument('<file>', 'a file that `backup` has written')
    .description('make a DATA_DIR from a backup; what is started there is a copy, which sends nothing until --adopt')
    .requiredOption('--data-dir <folder>', 'an empty folder, or one that does not exist yet')
    .option('--passphrase-file <file>', 'a file with the passphrase of the key in the backup')
    .option('--no-key', 'leave the key in the backup')
    .action(async (file: string, options: RestoreOptions) =>
      (await import('./database/restore.ts')).restoreDatabase(file, options),
    );
  program
    .command('move')
    .description('copy the embedded database into another PostgreSQL, which the installation lives in from then on')
    .option(
      '--to <url>',
      'URL of an empty database; default: MOVE_TO_DATABASE_URL, which no list of processes shows; the service must be stopped',
    )
    .action(async (options: { to?: string }) => (await import('./database/move.ts')).moveDatabase(options));
}

function addWaysIn(program: Command): void {
  program
    .command('token')
    .description('print a new access token for a person who lost theirs; the service may be running')
    .option('--email <email>', 'e-mail address of the person; default: the first platform administrator')
    .option('--revoke', "end the person's earlier tokens")
    .action(async (options: { email?: string; revoke?: boolean }) =>
      (await import('./database/token.ts')).printToken(options),
    );
  program
    .command('console-link')
    .description('print a link that signs in to the console, once and within 30 minutes; the service may be running')
    .option('--email <email>', 'e-mail address of the person; default: the first platform administrator')
    .action(async (options: { email?: string }) =>
      (await import('./database/console-link.ts')).printConsoleLink(options),
    );
}

function readEnvironmentFile(): void {
  // Variables that are already set keep their values. In the folder of a plugin, the file may be a stranger's.
  if (existsSync('.env') && !existsSync('plugin.json')) process.loadEnvFile('.env');
}

/** Prints the error that a command ended with: a sentence for the operator, a stack for a defect. */
export function printFailure(error: unknown): void {
  // The service quotes packages and names that strangers wrote.
  if (error instanceof OperatorError) for (const line of error.message.split('\n')) console.error(printable(line));
  else console.error(error);
}
