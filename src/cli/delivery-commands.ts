import { Option, type Command } from 'commander';
import { addCommand, addServiceCommand } from './add-command.ts';
import type { TriggerHookOptions } from './hooks/trigger-hook.ts';
import { parseCount, parseSince } from './plugin/runs/since.ts';
import type { DeliverySelection } from './deliveries/list.ts';
import type { AccountOptions } from './deliveries/account-of.ts';

const largestId = Number.MAX_SAFE_INTEGER;

/** Adds the commands that show what the running service sent to webhooks and bots, and send it again. */
export function addDeliveryCommands(program: Command): void {
  const deliveries = program
    .command('deliveries')
    .description('look at what webhooks and bots were sent, and resend it');
  of(deliveries, 'list', {
    description: 'list the latest deliveries of an account',
    example: 'deliveries list --state failing --since 1h',
  })
    .addOption(new Option('--webhook <id>', 'only to this webhook').argParser(parseCount(largestId)))
    .addOption(new Option('--bot <id>', 'only to this bot').argParser(parseCount(largestId)).conflicts('webhook'))
    .option('--state <state>', 'only pending, failing, delivered, exhausted or cancelled ones')
    .option('--event <event>', 'only of this event')
    .addOption(new Option('--conversation <id>', 'only of this conversation').argParser(parseCount(largestId)))
    .addOption(
      new Option('--since <time>', 'a time ago, such as 1h, or a moment').argParser((text) => parseSince(text)),
    )
    .addOption(new Option('--limit <count>', 'at most so many, the latest').argParser(parseCount(100_000)).default(25))
    .action(async (options: DeliverySelection) => (await import('./deliveries/list.ts')).listDeliveries(options));
  of(deliveries, 'show', {
    description: 'show a delivery with every attempt: request, answer, times, and what went wrong',
    example: 'deliveries show 4711',
  })
    .argument('<id>', 'id of the delivery', parseCount(largestId))
    .action(async (id: number, options: AccountOptions) =>
      (await import('./deliveries/show.ts')).showDelivery(id, options),
    );
  of(deliveries, 'resend', {
    description: 'send a delivery again, and wait for what becomes of it; the exit code is 1 if it does not arrive',
    example: 'deliveries resend 4711',
  })
    .argument('<id>', 'id of the delivery', parseCount(largestId))
    .option('--no-wait', 'do not wait')
    .action(async (id: number, options: AccountOptions & { wait: boolean }) =>
      (await import('./deliveries/resend.ts')).resendDelivery(id, options),
    );
  const trigger = of(program, 'trigger', {
    description:
      'send a sample of an event to webhooks, marked as a test; the exit code is 1 if one does not accept it',
    example: 'trigger message_created --webhook 3',
  })
    .argument('<event>', 'name of the event')
    .addOption(
      new Option('--webhook <id>', 'this webhook; default: every active one that is subscribed to it').argParser(
        parseCount(largestId),
      ),
    )
    .action(async (event: string, options: AccountOptions & { webhook?: number }) =>
      (await import('./deliveries/trigger.ts')).triggerEvent(event, options),
    );
  addHookTrigger(trigger);
}

const schemes = [
  'standard-webhooks',
  'github',
  'stripe',
  'slack',
  'shopify',
  'twilio',
  'telegram',
  'meta',
  'basic',
  'none',
];

function addHookTrigger(trigger: Command): void {
  addCommand(trigger, 'hook', {
    description:
      'send a sample request to the URL of a hook, signed as its sender would; the exit code is 1 if it is refused',
    example: 'trigger hook http://127.0.0.1:3000/hooks/swh_… --verify github --secret my-secret',
  })
    .argument('<url>', 'the whole URL of the hook, as its creation showed it')
    .addOption(new Option('--verify <scheme>', 'how the hook checks its sender').choices(schemes).default('none'))
    .option('--secret <secret>', 'the secret of the hook')
    .option('--data <body>', 'the body, or @FILE; default: a sample of the scheme')
    .option('--id <id>', 'the id that the sender gives the request; default: a new one')
    .option('--json', 'print the answer as JSON')
    // `trigger` itself takes `--json` before it gets here.
    .action(async (url: string, _: object, command: Command) =>
      (await import('./hooks/trigger-hook.ts')).triggerHook(url, command.optsWithGlobals<TriggerHookOptions>()),
    );
}

function of(parent: Command, name: string, text: { description: string; example: string }): Command {
  const account = new Option('--account <id>', "the account; default: the first that the token's holder belongs to");
  return addServiceCommand(parent, name, text).addOption(account.argParser(parseCount(largestId)));
}
