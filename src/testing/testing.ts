import { PluginError } from '../packages/plugin-error.ts';
import { openConfig, type Manifest } from '../packages/manifest/manifest.ts';
import { bundleOf, partOf } from '../packages/manifest/parts.ts';
import { readOnce } from './read-once.ts';
import { createIdleSandbox } from './sandbox.ts';
import { SimulatedConversation } from './simulation.ts';
import { secretsOf } from './secrets.ts';
import { ChannelOnStage } from './channel.ts';
import type { SimulatedChannel, SimulateOptions, Simulation } from './api.ts';
import type { BotToRun } from '../records/bots/bot-to-run.ts';
import type { InstalledPlugin } from '../runs/installed-plugins.ts';
import type { Sandbox } from '../sandbox/run.ts';

export type * from './api.ts';

let shared: Sandbox | undefined;
let lastBot = 0;

/**
 * Begins a conversation with the bot, or before the automation, of the package in `directory`: in the sandbox and by the rules of
 * the service, without a network, on a clock of its own. An automation hears each of its `events` there, whoever has the
 * conversation, which no bot serves. Rejects with every problem of the package and its settings, and for a channel.
 *
 * `const sim = await simulate('bots/hello'); await sim.customer('Hi'); sim.expectReply(/hello/i);`
 */
export async function simulate(directory: string, options: SimulateOptions = {}): Promise<Simulation> {
  const kinds = options.kind === undefined ? (['bot', 'automation'] as const) : [options.kind];
  const { pack, sandbox, bot } = await prepare(directory, options, {
    kinds,
    refusal: ({ id, kind }) =>
      options.kind === undefined
        ? `\`simulate\` plays bots and automations, and ${id} is a ${kind}: test it with \`simulateChannel\``
        : `${id} has no part of the kind ${options.kind}`,
  });
  return new SimulatedConversation({ plugin: () => pack, sandbox, bot }, options);
}

/**
 * Prepares the channel of the package in `directory` for a test: in the sandbox, without a network. Rejects with every problem of the
 * package and its settings.
 *
 * `const channel = await simulateChannel('channels/pager'); await channel.receives({ json: { id: '1', text: 'Hi' } });`
 */
export async function simulateChannel(directory: string, options: SimulateOptions = {}): Promise<SimulatedChannel> {
  const refusal = ({ id, kind }: Manifest) =>
    `\`simulateChannel\` plays channels, and ${id} is ${kind === 'automation' ? 'an' : 'a'} ${kind}: test it with \`simulate\``;
  return new ChannelOnStage(await prepare(directory, options, { kinds: ['channel'], refusal }), options);
}

/** Kinds of parts that can be played, the preferred one first, and what is said of a package without any, by its first part. */
interface Playable {
  kinds: readonly Manifest['kind'][];
  refusal: (part: Manifest) => string;
}

async function prepare(
  directory: string,
  options: SimulateOptions,
  { kinds, refusal }: Playable,
): Promise<{ pack: InstalledPlugin; sandbox: Sandbox; bot: BotToRun }> {
  const { manifest: whole, bundle: all } = await readOnce(directory);
  const manifest = kinds.map((kind) => partOf(whole, kind)).find((part) => part);
  if (!manifest) throw new PluginError([refusal(whole.parts[0])]);
  const bundle = bundleOf(all, manifest);
  const { config, problems } = openConfig(manifest, options.config ?? {});
  if (problems.length > 0) throw new PluginError(problems.map(({ message }) => `The settings: ${message}`));
  shared ??= createIdleSandbox();
  lastBot += 1;
  const { id, name } = manifest;
  const bot = {
    id: lastBot,
    name,
    avatarUrl: null,
    pluginId: id,
    part: manifest.kind,
    config,
    secrets: secretsOf(manifest, options),
    hasServer: true,
  };
  return { pack: { id, manifest, bundle }, sandbox: shared, bot };
}
