import { PluginError } from '../packages/plugin-error.ts';
import { openConfig } from '../packages/manifest/manifest.ts';
import { readOnce } from './read-once.ts';
import { createIdleSandbox } from './sandbox.ts';
import { SimulatedConversation } from './simulation.ts';
import { secretsOf } from './secrets.ts';
import type { SimulateOptions, Simulation } from './api.ts';
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
  const { manifest, bundle } = await readOnce(directory);
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
    config,
    secrets: secretsOf(manifest, options),
    hasServer: true,
  };
  return new SimulatedConversation({ plugin: () => ({ id, manifest, bundle }), sandbox: shared, bot }, options);
}
