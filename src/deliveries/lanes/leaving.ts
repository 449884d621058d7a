import { aiPluginId, type EndpointKind } from '../core/endpoint.ts';

/**
 * SQL condition by kind of endpoint: its deliveries leave the service, or ask a model outside of it, so they wait while the gate
 * is held. `endpoint` names a row of the kind's table. Bots that run in the service go on; what they call is refused.
 */
export const leavesService: Readonly<Record<EndpointKind, (endpoint: string) => string>> = {
  webhook: () => 'true',
  bot: (bot) => `(${bot}.outgoing_url IS NOT NULL OR ${bot}.kind = 'webhook' OR ${bot}.plugin_id = '${aiPluginId}')`,
  automation: () => 'false',
  channel: () => 'true',
};
