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
