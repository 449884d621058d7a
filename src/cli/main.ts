import { existsSync } from 'node:fs';
import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { OperatorError } from '../lib/operator-error.ts';

/** The command line. Each command is loaded when it is called, so that none pays for the others. */
function createProgram(): Command {
  const program = new Command('switchboard')
    .description('A customer-conversation service that people extend with bots.')
    .version(packageJson.version)
    .showHelpAfterError('(switchboard --help lists what there is)');
  program
    .command('start')
    .description('run the service, as the environment variables in the README configure it')
    .action(async () => (await import('../main.ts')).start());
  program
    .command('migrate')
    .description('bring the database up to date, and end')
    .action(async () => (await import('./migrate.ts')).migrateDatabase());
  program
    .command('seed')
    .description('make an empty database usable: the first administrator and, with DEMO, demonstration data')
    .action(async () => (await import('./seed.ts')).seedDatabase());
  program
    .command('demo')
    .description('show a customer, a bot and a webhook at work in the running service')
    .option('--url <url>', 'where the service listens; default: where the last start said')
    .option('--token <token>', 'an access token of an administrator; default: the one that DEMO left')
    .action(async (options: { url?: string; token?: string }) => (await import('./demo.ts')).demo(options));
  program
    .command('plugin')
    .description('work on a bot plugin')
    .command('check')
    .argument('<directory>', 'folder that holds plugin.json')
    .description('check a plugin and try it in the sandbox')
    .action(async (directory: string) => (await import('./check-plugin.ts')).printPluginCheck(directory));
  return program;
}

/** bin/switchboard.js opens a channel only so that its death is noticed: who kills it means the service. */
function dieWithLauncher(): void {
  if (!process.channel) return;
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel.unref();
}

dieWithLauncher();
try {
  // What the environment sets already stays.
  if (existsSync('.env')) process.loadEnvFile('.env');
  await createProgram().parseAsync();
} catch (error) {
  console.error(error instanceof OperatorError ? error.message : error);
  // What already runs, such as the embedded database, would keep the process alive.
  process.exit(1);
}
