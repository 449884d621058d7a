import { InvalidArgumentError, type Command } from 'commander';
import { addServiceCommand } from './add-command.ts';
import type { EvalOptions } from './evals/evals.ts';
import { parseCount } from './plugin/runs/since.ts';

/** Adds the command that measures a bot by questions. */
export function addEvalCommands(program: Command): void {
  addServiceCommand(program, 'evals', {
    description:
      'ask a bot the questions of a file, as it is configured, and compare the results with the last run; nothing is written to conversations',
    example: 'evals Help questions.jsonl --min 0.9',
  })
    .argument('<bot>', 'id or name of the bot')
    .argument('<file>', 'JSON lines: {"question": "…", "history": […], "expect": {"article": "Returns"}}')
    .option('--min <share>', 'share of the questions that must pass', parseShare, 1)
    .option('--account <id>', 'the account', parseCount(Number.MAX_SAFE_INTEGER), 1)
    .addHelpText('after', '\nExit code: 0 if enough passed, 1 if not, 2 if the questions could not be asked.')
    .action(async (bot: string, file: string, options: EvalOptions) =>
      (await import('./evals/evals.ts')).runEvals(bot, file, options),
    );
}

function parseShare(text: string): number {
  const share = Number(text);
  if (/^\d*\.?\d+$/.test(text) && share <= 1) return share;
  throw new InvalidArgumentError('It must be a number from 0 to 1.');
}
