import { Option, type Command } from 'commander';
import { addServiceCommand } from './add-command.ts';
import type { ImportOptions } from './articles/import.ts';
import { parseCount } from './plugin/runs/since.ts';

/** Adds the commands on articles of the running service. */
export function addArticleCommands(parent: Command): void {
  const account = new Option('--account <id>', 'the account whose articles they are');
  addServiceCommand(parent, 'import', {
    description:
      'import a folder of Markdown; the same path or URL is the same article, so that importing again only changes what has changed',
    example: 'articles import docs/help --account 1',
  })
    .argument('<source>', 'folder of Markdown files, or an archive (.zip, .tgz) or JSON lines (.jsonl)')
    .addOption(account.argParser(parseCount(Number.MAX_SAFE_INTEGER)).default(1))
    .option('--language <tag>', 'language of new articles that do not say theirs; default: en')
    .action(async (source: string, options: ImportOptions) =>
      (await import('./articles/import.ts')).importArticles(source, options),
    );
}
