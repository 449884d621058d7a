import { Option, type Command } from 'commander';
import { addCommand, addServiceCommand } from './add-command.ts';
import type { AccountOptions } from './deliveries/account-of.ts';
import { parseCount } from './plugin/runs/since.ts';
import type { ServiceOptions } from './service.ts';

/** Adds the commands that install plugins in the running service, and the one that packs them. */
export function addPluginCommands(plugin: Command): void {
  addCommand(plugin, 'pack', {
    description: 'make the archive of a plugin, as npm pack does, if a service would take it',
    example: 'plugin pack bots/faq',
  })
    .argument('<directory>', 'folder that holds plugin.json')
    .option('--sign <key>', 'sign it with this private key (Ed25519, PEM)')
    .option('--json', 'print the answer as JSON')
    .action(async (directory: string, options: { json?: boolean; sign?: string }) =>
      (await import('./plugin/author/pack.ts')).packPlugin(directory, options),
    );
  addServiceCommand(plugin, 'install', {
    description: 'install a plugin, or a new version of it, in the running service',
    example: 'plugin install order-status-1.2.0.tgz',
  })
    .argument('<source>', 'folder that holds plugin.json, an archive made by npm pack, or npm:NAME@RANGE')
    .action(async (source: string, options: ServiceOptions) =>
      (await import('./plugin/install.ts')).installPlugin(source, options),
    );
  addServiceCommand(plugin, 'list', {
    description: 'list the plugins of the running service',
    example: 'plugin list --json',
  }).action(async (options: ServiceOptions) => (await import('./plugin/list.ts')).listPlugins(options));
  addHooksCommand(plugin);
  addServiceCommand(plugin, 'outdated', {
    description: 'list the plugins that came from the npm registry, with the versions that there are now',
    example: 'plugin outdated',
  }).action(async (options: ServiceOptions) => (await import('./plugin/registry/outdated.ts')).listOutdated(options));
  addServiceCommand(plugin, 'update', {
    description: 'install the version that the range of a plugin names in the npm registry now, by default of all',
    example: 'plugin update order-status',
  })
    .argument('[id]', 'id of the plugin')
    .action(async (id: string | undefined, options: ServiceOptions) =>
      (await import('./plugin/registry/update.ts')).updatePlugins(id, options),
    );
  addServiceCommand(plugin, 'enable', {
    description: 'have the bots of a plugin answer again',
    example: 'plugin enable order-status',
  })
    .argument('<id>', 'id of the plugin')
    .action(async (id: string, options: ServiceOptions) =>
      (await import('./plugin/switch.ts')).enablePlugin(id, options),
    );
  addServiceCommand(plugin, 'disable', {
    description: 'let people have the conversations of the bots of a plugin',
    example: 'plugin disable order-status',
  })
    .argument('<id>', 'id of the plugin')
    .action(async (id: string, options: ServiceOptions) =>
      (await import('./plugin/switch.ts')).disablePlugin(id, options),
    );
  addRiskyCommands(plugin);
}

function addHooksCommand(plugin: Command): void {
  addServiceCommand(plugin, 'hooks', {
    description: 'list the hooks of an account that a plugin handles, with their latest requests',
    example: 'plugin hooks shipping',
  })
    .argument('[id]', 'id of the plugin; default: all')
    .addOption(
      new Option('--account <id>', "the account; default: the first that the token's holder belongs to").argParser(
        parseCount(Number.MAX_SAFE_INTEGER),
      ),
    )
    .action(async (id: string | undefined, options: AccountOptions) =>
      (await import('./hooks/list-hooks.ts')).listHooks(id, options),
    );
}

function addRiskyCommands(plugin: Command): void {
  addServiceCommand(plugin, 'approve', {
    description:
      'approve the version of a plugin that waits, after having shown what it may do more than the one that runs',
    example: 'plugin approve order-status',
  })
    .argument('<id>', 'id of the plugin')
    .option('--hash <hash>', 'do not ask, and approve only the version with this hash')
    .option('--yes', 'do not ask')
    .action(async (id: string, options: ServiceOptions & { hash?: string; yes?: boolean }) =>
      (await import('./plugin/approve.ts')).approvePlugin(id, options),
    );
  addServiceCommand(plugin, 'reject', {
    description: 'withdraw the version of a plugin that waits for approval',
    example: 'plugin reject order-status',
  })
    .argument('<id>', 'id of the plugin')
    .option('--hash <hash>', 'only if the version that waits has this hash')
    .action(async (id: string, options: ServiceOptions & { hash?: string }) =>
      (await import('./plugin/approve.ts')).rejectPlugin(id, options),
    );
  addServiceCommand(plugin, 'rollback', {
    description: 'have a plugin run another installed version, by default the one that ran before',
    example: 'plugin rollback order-status 1.1.0',
  })
    .argument('<id>', 'id of the plugin')
    .argument('[version]', 'version that is installed')
    .action(async (id: string, version: string | undefined, options: ServiceOptions) =>
      (await import('./plugin/rollback.ts')).rollBackPlugin(id, version, options),
    );
  addServiceCommand(plugin, 'uninstall', {
    description: 'uninstall a plugin that no bot uses',
    example: 'plugin uninstall order-status --yes',
  })
    .argument('<id>', 'id of the plugin')
    .option('--yes', 'do not ask')
    .action(async (id: string, options: ServiceOptions & { yes?: boolean }) =>
      (await import('./plugin/uninstall.ts')).uninstallPlugin(id, options),
    );
}
