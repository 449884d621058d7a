import { InvalidArgumentError, Option, type Command } from 'commander';
import { addCommand } from '../../add-command.ts';
import type { CheckOptions } from '../check.ts';
import type { DevOptions } from './dev.ts';
import type { DoctorOptions } from './doctor.ts';
import type { NewOptions } from './new.ts';
import type { TestOptions } from './test.ts';

const folder = ['<directory>', 'folder that holds plugin.json'] as const;
const json = ['--json', 'print JSON'] as const;

/** Adds the commands for those who write a plugin; they need no service. */
export function addAuthorCommands(plugin: Command): void {
  addCommand(plugin, 'new', {
    description: 'make the folder of a plugin, with a test',
    example: 'plugin new bots/hello --template rule',
  })
    .argument('<directory>', "folder that does not exist yet; its name becomes the plugin's id")
    .addOption(
      new Option('--template <name>', 'what it begins with').choices(['rule', 'http', 'ai', 'channel']).default('rule'),
    )
    .option(...json)
    .action(async (directory: string, options: NewOptions) =>
      (await import('./new.ts')).makePlugin(directory, options),
    );
  addCommand(plugin, 'check', {
    description: 'check manifest, types and permissions of a plugin, and try it in the sandbox',
    example: 'plugin check bots/faq --say "When do you open?"',
  })
    .argument(...folder)
    .option('--say <text>', 'play one message of a customer')
    .option(...json)
    .action(async (directory: string, options: CheckOptions) =>
      (await import('../check.ts')).printPluginCheck(directory, options),
    );
  addCommand(plugin, 'test', { description: 'run the tests of a plugin', example: 'plugin test bots/faq' })
    .argument(...folder)
    .option(...json)
    .action(async (directory: string, options: TestOptions) =>
      (await import('./test.ts')).runPluginTests(directory, options),
    );
  addCommand(plugin, 'dev', {
    description: 'chat with a bot in the terminal, without a database; it is read again at each change',
    example: 'plugin dev bots/faq --config \'{"questions": []}\'',
  })
    .argument(...folder)
    .option('--config <json>', "the account's settings", parseObject)
    .option('--secrets <json>', 'values of secrets by name', parseObject)
    .option('--json', 'print a JSON object a line')
    .action(async (directory: string, options: DevOptions) =>
      (await import('./dev.ts')).chatWithPlugin(directory, options),
    );
  addCommand(plugin, 'doctor', {
    description: 'say what of this machine bots need, and what is missing',
    example: 'plugin doctor',
  })
    .option(...json)
    .action(async (options: DoctorOptions) => (await import('./doctor.ts')).printDoctor(options));
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError('It must be a JSON object, such as \'{"name": "value"}\'.');
}
