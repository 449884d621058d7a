import type { Action, Permissions } from '../sandbox/run.ts';
import { withSecrets } from '../sandbox/request-target.ts';
import type { Run } from './run.ts';

type Incoming = Extract<Action, { type: 'incoming' }>;

/** How the files of messages that a channel brings in are fetched. */
export interface IncomingFiles {
  /** The URL with its secrets in clear. */
  openUrl: (url: string) => string;
  /** Whether a file that cannot be fetched now is given up, and named to agents. */
  isLast: boolean;
  /** Files that were given up, by their message. */
  missing: Map<Incoming, { name: string; why: string }[]>;
}

/** Returns how the files of a run of a channel are fetched. A secret goes to the hosts that it is bound to only. */
export function incomingFiles(
  { bot, permissions }: Pick<Run, 'bot' | 'permissions'>,
  { openSecret, isLast }: { openSecret: ((sealed: string) => string) | undefined; isLast: boolean },
): IncomingFiles {
  const openUrl = (url: string): string => {
    const host = URL.parse(url)?.host ?? '';
    return withSecrets(url, (name) => {
      const sealed = isBound(permissions, name, host) ? bot.secrets?.[name] : undefined;
      return sealed === undefined || !openSecret ? '' : openSecret(sealed);
    });
  };
  return { openUrl, isLast, missing: new Map() };
}

function isBound({ secrets }: Permissions, name: string, host: string): boolean {
  return secrets.some((secret) => secret.name === name && secret.hosts.includes(host));
}
