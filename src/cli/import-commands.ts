import { Option, type Command } from 'commander';
import { addCommand } from './add-command.ts';
import type { ChatwootOptions } from './chatwoot/import.ts';
import { parseCount } from './plugin/runs/since.ts';

const [anyId, mostPauseMs] = [Number.MAX_SAFE_INTEGER, 60_000];

/** Adds the commands that copy accounts of other services. */
export function addImportCommands(parent: Command): void {
  addCommand(parent, 'chatwoot', {
    description:
      'copy inboxes, agents, teams, labels, contacts, conversations and messages of a Chatwoot account by its API; again: what is new there; the service may be running',
    example: 'import chatwoot --url https://app.chatwoot.com --account 12 --into 1',
  })
    .requiredOption('--url <url>', 'their server, as its people open it')
    .option(
      '--token <token>',
      'an access token of an administrator there; default: CHATWOOT_TOKEN, which no list of processes shows',
    )
    .addOption(new Option('--account <id>', 'their account; default: the only one').argParser(parseCount(anyId)))
    .addOption(new Option('--into <id>', 'our account').argParser(parseCount(anyId)).default(1))
    .addOption(
      new Option(
        '--source <url>',
        'go on with the copies of this earlier address of their server, which --url gives anew',
      ).conflicts('another'),
    )
    .option('--another', 'copy into an account that has copies from elsewhere')
    .option('--allow-private', 'their server is in a private network, or speaks http://')
    .option(
      '--admit-clients',
      'let clients in by the random source_id that they had there, where it is the only one of its contact in the inbox',
    )
    .option('--accept-missing', 'miss files no longer that are gone there (404)')
    .option('--files-host <host>', 'their files are at this host, such as minio:9000, in a private network')
    .option('--no-attachments', 'leave the files of messages out')
    .option('--dry-run', 'tell what there is, and copy nothing')
    .addOption(
      new Option('--retry-pause <ms>', 'the first pause before a failed request is made again')
        .argParser(parseCount(mostPauseMs))
        .default(1000),
    )
    .option('--json', 'print the report as JSON')
    .action(async (options: ChatwootOptions) => (await import('./chatwoot/import.ts')).importChatwoot(options));
}
