import type { Command } from 'commander';

interface CommandText {
  /** The line of `--help`. */
  description: string;
  /** A call as the user types it, without `npx switchboard`. */
  example: string;
}

/** Adds a command with an example to `parent`; `usage` is its name and arguments. */
export function addCommand(parent: Command, usage: string, { description, example }: CommandText): Command {
  return parent
    .command(usage)
    .description(description)
    .addHelpText('after', `\nExample:\n  $ npx switchboard ${example}`);
}

/** Adds a command on the running service: with the options of ServiceOptions, and an example. */
export function addServiceCommand(parent: Command, usage: string, text: CommandText): Command {
  return addCommand(parent, usage, text)
    .option('--url <url>', 'where the service listens; default: SWITCHBOARD_URL, else where the last start said')
    .option(
      '--token <token>',
      'an access token; default: SWITCHBOARD_TOKEN, else the one that the last start left in DATA_DIR',
    )
    .option('--json', 'print the answer as JSON');
}
