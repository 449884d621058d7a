import { noPermissions } from '../../sandbox/run.ts';
import type { Permissions } from '../../sandbox/run.ts';
import type { Shape } from '../../schemas.ts';

type PermissionsFile = Shape<'runtime/plugin'>['permissions'];

const defaultStorageBytes = 65_536;
const largestPort = 65_535;

/** The permissions of a valid plugin.json with the defaults filled in: what it does not ask for is not granted. */
export function readPermissions({ storage, network, secrets = [], ...rest }: PermissionsFile = {}): Permissions {
  return {
    ...noPermissions,
    ...rest,
    storage: storage ? { scopes: storage.scopes, maxBytes: storage.maxBytes ?? defaultStorageBytes } : null,
    network: network ? { hosts: network.hosts.map(plainHost), methods: network.methods ?? ['GET'] } : null,
    secrets: secrets.map(({ name, hosts }) => ({ name, hosts: hosts.map(plainHost) })),
  };
}

/** A sentence for each contradiction that the schema cannot see: ports, secrets named twice or bound to foreign hosts. */
export function findPermissionProblems({ network, secrets }: Permissions): string[] {
  const names = secrets.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  const hosts = network?.hosts ?? [];
  return [
    ...[...new Set(hosts)].filter(hasNoPort).map((host) => `\`permissions.network.hosts\`: ${host} has no such port`),
    ...[...new Set(twice)].map((name) => `\`permissions.secrets\` names \`${name}\` twice`),
    ...secrets.flatMap((secret) =>
      secret.hosts
        .filter((host) => !hosts.includes(host))
        .map(
          (host) =>
            `the secret \`${secret.name}\` is bound to ${host}, which \`permissions.network.hosts\` does not list`,
        ),
    ),
  ];
}

// A URL does not tell whether it named the port of https.
function plainHost(host: string): string {
  return host.replace(/:443$/, '');
}

function hasNoPort(host: string): boolean {
  return Number(host.split(':')[1] ?? 1) > largestPort;
}
