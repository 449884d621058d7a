/** A header that a webhook gets with each delivery; its value is sealed. */
export interface SealedHeader {
  name: string;
  value: string;
}

/** How a webhook's receiver knows the service, sealed as JSON text. */
export interface SealedAuth {
  type: Auth['type'];
  sealed: string;
}

/** How a webhook's receiver knows the service. */
export type Auth =
  | { type: 'bearer'; token: string }
  | { type: 'basic'; username: string; password: string }
  | { type: 'mtls'; certificate: string; key: string };

/** Stands for a secret where the others of a record are shown. */
export const mask = '••••';

/** Headers of a delivery, and the client certificate of its connection. */
interface Credentials {
  headers: Readonly<Record<string, string>>;
  /** The same headers as they may be shown. */
  shown: Readonly<Record<string, string>>;
  certificate: { certificate: string; key: string } | null;
}

/** Opens what a receiver is to get beside the body; null when any of it cannot be opened, for which `open` answers null. */
export function openCredentials(
  { headers, auth }: { headers: readonly SealedHeader[]; auth: SealedAuth | null },
  open: (sealed: string) => string | null,
): Credentials | null {
  const opened: Record<string, string> = {};
  for (const { name, value: sealed } of headers) {
    const value = open(sealed);
    if (value === null) return null;
    opened[name.toLowerCase()] = value;
  }
  const text = auth && open(auth.sealed);
  if (auth && text === null) return null;
  const given = text === null ? null : (JSON.parse(text) as Auth);
  if (given && given.type !== 'mtls') opened['authorization'] = authorizationOf(given);
  const shown = Object.fromEntries(Object.keys(opened).map((name) => [name, mask]));
  return { headers: opened, shown, certificate: given?.type === 'mtls' ? given : null };
}

function authorizationOf(auth: Exclude<Auth, { type: 'mtls' }>): string {
  if (auth.type === 'bearer') return `Bearer ${auth.token}`;
  return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
}
