import { PluginError } from '../packages/plugin-error.ts';
import { openConfig } from '../packages/manifest/manifest.ts';
import { bundleOf, partOf } from '../packages/manifest/parts.ts';
import type { SendRequest } from '../runs/doors/fetch.ts';
import type { InstalledPlugin } from '../runs/installed-plugins.ts';
import type { SimulateOptions, Simulation } from './api.ts';
import { readOnce } from './read-once.ts';
import { awake, createIdleSandbox } from './sandbox.ts';
import { secretsOf } from './secrets.ts';
import { SimulatedConversation } from './simulation.ts';

/** A conversation with a bot whose package may change meanwhile. */
export interface Chat {
  /** Name and version of the plugin. */
  readonly name: string;
  readonly sim: Simulation;
  /** Reads the package again: its problems, with which the version before stays; null when no file has changed. */
  reload(): Promise<readonly string[] | null>;
  close(): Promise<void>;
}

/** Like SimulateOptions; `told` gets each line of the transcript as it arises, `send` sends the bot's requests. */
export interface ChatOptions extends SimulateOptions {
  send: SendRequest;
  told: (line: string) => void;
}

/** Opens a chat. Rejects with a PluginError. */
export async function openChat(directory: string, { told, send, ...options }: ChatOptions): Promise<Chat> {
  let pack = await read(directory, options);
  const sandbox = createIdleSandbox();
  const { id, name, version, kind } = pack.manifest;
  const bot = {
    id: 1,
    name,
    avatarUrl: null,
    pluginId: id,
    part: kind,
    config: options.config ?? {},
    secrets: secretsOf(pack.manifest, options),
    hasServer: true,
  };
  const plugin = () => ({ id, manifest: pack.manifest, bundle: pack.bundle });
  return {
    name: `${name} ${version}`,
    sim: new SimulatedConversation({ plugin, sandbox, bot, told, send }, options),
    reload: async () => {
      try {
        const before = pack.bundle.hash;
        pack = await read(directory, options);
        return pack.bundle.hash === before ? null : [];
      } catch (error) {
        if (error instanceof PluginError) return error.problems;
        throw error;
      }
    },
    close: () => awake(() => sandbox.close()),
  };
}

async function read(
  directory: string,
  { config = {} }: SimulateOptions,
): Promise<Pick<InstalledPlugin, 'manifest' | 'bundle'>> {
  const whole = await readOnce(directory);
  const manifest = partOf(whole.manifest, 'bot') ?? whole.manifest.parts[0];
  const pack = { manifest, bundle: bundleOf(whole.bundle, manifest) };
  const { problems } = openConfig(pack.manifest, config);
  if (problems.length > 0) throw new PluginError(problems.map(({ message }) => `The settings: ${message}`));
  return pack;
}
