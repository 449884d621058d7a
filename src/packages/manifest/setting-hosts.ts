import type { Permissions } from '../../sandbox/run.ts';
import type { ConfigSchema } from './manifest.ts';

/** Begins the name of a setting in a list of hosts: the host is the one that the account has set there. */
const mark = '$';

/** A sentence for each setting marked `x-host` that cannot hold a host, and for each host that names no such setting. */
export function findHostProblems({ properties = {} }: ConfigSchema, { network, secrets }: Permissions): string[] {
  const marked = Object.entries(properties).filter(([, setting]) => setting['x-host']);
  const listed = [...(network?.hosts ?? []), ...secrets.flatMap(({ hosts }) => hosts)].filter(isSetting);
  const unknown = [...new Set(listed)].filter((host) => !marked.some(([name]) => host === mark + name));
  return [
    ...marked
      .filter(([, { type, format }]) => type !== 'string' || format !== 'uri')
      .map(([name]) => `/config: \`${name}\` is marked \`x-host\`, so it must be a string with the format uri`),
    ...marked
      .filter(([name]) => !network?.hosts.includes(mark + name))
      .map(
        ([name]) => `/config: \`${name}\` is marked \`x-host\`: list \`${mark}${name}\` in permissions.network.hosts`,
      ),
    ...unknown.map((host) => `\`permissions\`: ${host} names no setting that is marked \`x-host\``),
  ];
}

/** Whether an entry of a list of hosts is the name of a setting. */
export function isSetting(host: string): boolean {
  return host.startsWith(mark);
}

/**
 * Returns the permissions of a run with these settings: hosts that are named by settings are those of their URLs, and may be
 * called without encryption if the URL says so.
 */
export function permissionsWith(permissions: Permissions, config: Readonly<Record<string, unknown>>): Permissions {
  const { network, secrets } = permissions;
  if (!network?.hosts.some(isSetting)) return permissions;
  const urlOf = (host: string): URL | null => {
    const value = config[host.slice(mark.length)];
    return typeof value === 'string' ? URL.parse(value) : null;
  };
  const resolved = (hosts: readonly string[]): string[] => [
    ...new Set(hosts.flatMap((host) => (isSetting(host) ? (urlOf(host)?.host ?? []) : host))),
  ];
  const plainHosts = network.hosts.filter(isSetting).flatMap((host) => {
    const url = urlOf(host);
    return url?.protocol === 'http:' ? url.host : [];
  });
  return {
    ...permissions,
    network: { ...network, hosts: resolved(network.hosts), plainHosts },
    secrets: secrets.map(({ name, hosts }) => ({ name, hosts: resolved(hosts) })),
  };
}

/** Names of the secrets that other settings send to a host to which the present ones do not, or without encryption. */
export function movedSecrets(
  permissions: Permissions,
  present: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
): string[] {
  const [before, after] = [permissionsWith(permissions, present), permissionsWith(permissions, next)];
  const addressesOf = ({ network }: Permissions, hosts: readonly string[]): string[] =>
    hosts.map((host) => (network?.plainHosts?.includes(host) ? `http://${host}` : host));
  return after.secrets.flatMap(({ name, hosts }, index) => {
    const known = addressesOf(before, before.secrets[index]?.hosts ?? []);
    return addressesOf(after, hosts).every((host) => known.includes(host)) ? [] : name;
  });
}
