import { PluginError } from '../packages/plugin-error.ts';
import { openConfig } from '../packages/manifest/manifest.ts';
import type { BotPart } from '../records/bots/part.ts';
import { preferred } from './preferred-part.ts';
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
 * Begins a conversation with the bot of the package in `directory`: in the sandbox and by the rules of the service, without
 * a network, on a clock of its own. Rejects with every problem of the package and its settings.
 *
 * `const sim = await simulate('bots/hello'); await sim.customer('Hi'); sim.expectReply(/hello/i);`
 */
export async function simulate(directory: string, options: SimulateOptions = {}): Promise<Simulation> {
  const { pack, sandbox, bot } = await prepare(directory, 'bot', options);
  return new SimulatedConversation({ plugin: () => pack, sandbox, bot }, options);
}

/**
 * Prepares the channel of the package in `directory` for a test: in the sandbox, without a network. Rejects with every problem of the
 * package and its settings.
 *
 * `const channel = await simulateChannel('channels/pager'); await channel.receives({ json: { id: '1', text: 'Hi' } });`
 */
export async function simulateChannel(directory: string, options: SimulateOptions = {}): Promise<SimulatedChannel> {
  return new ChannelOnStage(await prepare(directory, 'channel', options), options);
}

async function prepare(
  directory: string,
  kind: BotPart,
  options: SimulateOptions,
): Promise<{ pack: InstalledPlugin; sandbox: Sandbox; bot: BotToRun }> {
  const { manifest, bundle } = preferred(await readOnce(directory), kind);
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
