import { Option, type Command } from 'commander';
import { addServiceCommand } from '../../add-command.ts';
import type { ServiceOptions } from '../../service.ts';
import type { BacktestOptions } from './backtest.ts';
import type { RunSelection } from './runs-of-plugin.ts';
import { parseCount, parseSince } from './since.ts';

const plugin = ['<id>', 'id of the plugin'] as const;
const largestId = Number.MAX_SAFE_INTEGER;

type ListOptions = ServiceOptions & RunSelection & { limit: number };

/** Adds the commands that show and repeat what a plugin did in the running service. */
export function addRunCommands(parent: Command): void {
  of(parent, 'runs', { description: 'list the latest runs of a plugin', example: 'plugin runs faq --since 1h' })
    .argument(...plugin)
    .addOption(since())
    .option('--outcome <outcome>', 'only runs that ended so, such as ok or timeout')
    .addOption(limit(25, 'runs, the latest of them'))
    .action(async (id: string, options: ListOptions) => (await import('./list-runs.ts')).listRuns(id, options));
  of(parent, 'logs', {
    description: 'print what a plugin wrote to its log, and how runs failed',
    example: 'plugin logs faq --since 1h',
  })
    .argument(...plugin)
    .addOption(since())
    .option('--outcome <outcome>', 'only of runs that ended so, such as ok or timeout')
    .addOption(limit(100, 'runs, the latest of them'))
    .action(async (id: string, options: ListOptions) => (await import('./logs.ts')).printLogs(id, options));
  of(parent, 'replay', {
    description: 'repeat a run from its record; the exit code is 1 if it does not end as it did',
    example: 'plugin replay 4711',
  })
    .argument('<run>', 'id of the run', parseCount(largestId))
    .action(async (run: number, options: ServiceOptions & RunSelection) =>
      (await import('./replay.ts')).replayRun(run, options),
    );
  of(parent, 'backtest', {
    description:
      'repeat recorded runs with the version in a folder, and show which would end otherwise; changes nothing',
    example: 'plugin backtest bots/faq --since 7d',
  })
    .argument('<directory>', 'folder that holds plugin.json')
    .addOption(since().default(parseSince('1d'), '1d'))
    .addOption(limit(1000, 'runs, the latest of them'))
    .option('--live-model', 'ask the model anew instead of taking its recorded answers; costs tokens of the bots')
    .addOption(
      new Option('--max-tokens <count>', 'with --live-model: ask no more once the answers took so many tokens')
        .argParser(parseCount(100_000_000))
        .default(100_000),
    )
    .action(async (directory: string, options: BacktestOptions) =>
      (await import('./backtest.ts')).backtestPlugin(directory, options),
    );
}

function of(parent: Command, name: string, text: { description: string; example: string }): Command {
  const account = new Option('--account <id>', "only of this account; default: all accounts of the token's holder");
  return addServiceCommand(parent, name, text).addOption(account.argParser(parseCount(largestId)));
}

function since(): Option {
  const option = new Option('--since <time>', 'a time ago, such as 1h or 7d, or a moment in ISO 8601');
  return option.argParser((text) => parseSince(text));
}

function limit(count: number, what: string): Option {
  return new Option('--limit <count>', `at most so many ${what}`).argParser(parseCount(100_000)).default(count);
}
