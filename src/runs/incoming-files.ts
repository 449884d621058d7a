import type { AwaitedFile, MissingFile } from '../domain/channels/awaited-files.ts';
import type { Action, Permissions } from '../sandbox/run.ts';
import { textWithSecrets, withSecrets } from '../sandbox/request-target.ts';
import { readBase64, type HookFiles } from '../records/embedded-files.ts';
import type { Run } from './run.ts';

type Incoming = Extract<Action, { type: 'incoming' }>;

/** Where a file is, and the headers of the request for it. */
export interface RemoteFile {
  url: string;
  headers?: Readonly<Record<string, string>>;
}

/** A file that came with the request: at a place of its JSON, or as base64. */
export interface InlineFile {
  hook?: string;
  data?: string;
}

/** How the files of messages that a channel brings in are fetched. */
export interface IncomingFiles {
  /** URL and headers of a file with their secrets in clear. */
  open: (file: RemoteFile) => Required<RemoteFile>;
  /** Returns a file that came with the request; null where there is none. */
  read: (file: InlineFile) => Promise<Buffer | null>;
  /** Whether a file that cannot be fetched now is given up, and named to agents. */
  isLast: boolean;
  /** Files that were given up, by their message. */
  missing: Map<Incoming, MissingFile[]>;
  /** Files that are tried again later, by their message. */
  awaited: Map<Incoming, AwaitedFile[]>;
  /** Why the last of them could not be fetched; null without any. */
  trouble: string | null;
  /** Places of the files that are to be fetched, of messages that are known already, by external ids. */
  known: ReadonlyMap<string, readonly number[]>;
}

interface Fetching {
  openSecret: ((sealed: string) => string) | undefined;
  isLast: boolean;
  files: Pick<HookFiles, 'read'> | null;
  known: IncomingFiles['known'];
}

/** Returns how the files of a run of a channel are fetched. A secret goes to the hosts that it is bound to only. */
export function incomingFiles(
  { bot, permissions }: Pick<Run, 'bot' | 'permissions'>,
  { openSecret, isLast, files, known }: Fetching,
): IncomingFiles {
  const open = ({ url, headers = {} }: RemoteFile): Required<RemoteFile> => {
    const host = URL.parse(url)?.host ?? '';
    const valueOf = (name: string): string => {
      const sealed = isBound(permissions, name, host) ? bot.secrets?.[name] : undefined;
      return sealed === undefined || !openSecret ? '' : openSecret(sealed);
    };
    const opened = Object.entries(headers).map(([name, value]) => [name, textWithSecrets(value, valueOf)] as const);
    return { url: withSecrets(url, valueOf), headers: Object.fromEntries(opened) };
  };
  const read = async ({ hook, data }: InlineFile): Promise<Buffer | null> => {
    if (data !== undefined) return readBase64(data);
    return hook === undefined || !files ? null : files.read(hook);
  };
  return { open, read, isLast, missing: new Map(), awaited: new Map(), trouble: null, known };
}

function isBound({ secrets }: Permissions, name: string, host: string): boolean {
  return secrets.some((secret) => secret.name === name && secret.hosts.includes(host));
}
