import { timingSafeEqual } from 'node:crypto';
import type { Clock } from './ports.ts';
import type { SecretBox } from './secrets/secret-box.ts';

/** A file of an account. */
interface FileName {
  accountId: number;
  id: number;
}

interface FileLinkOptions {
  secretBox: Pick<SecretBox, 'mac'>;
  clock: Clock;
  /** For how long a link is good at least. */
  hours: number;
}

/** Makes links to files, and says which file a link means. */
export interface FileLinks {
  /** A link to the file, by the name that people read in it. */
  urlOf: (file: FileName & { name: string }) => string;
}

const hourMs = 3_600_000;
const dayHours = 24;
const macBytes = 18;
const signedForm = /^([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,8})\.([\w-]{24})$/;

/** The path below which files are. */
export const filesPath = '/files/';

/**
 * Links that whoever has them may follow until they expire: `/files/SIGNED/NAME`. All links to a file that are made on one
 * day (in one hour, where links last for less than a day) are the same, so that records and their entity tags are.
 */
export class SignedFileLinks implements FileLinks {
  readonly #options: FileLinkOptions;
  /** The URL at which people reach the service, without a trailing slash. */
  publicUrl: () => string = () => '';

  constructor(options: FileLinkOptions) {
    this.#options = options;
  }

  urlOf({ accountId, id, name }: FileName & { name: string }): string {
    const { clock, hours } = this.#options;
    const step = (hours < dayHours ? 1 : dayHours) * hourMs;
    const expires = (Math.ceil(clock.now().getTime() / step) * step + hours * hourMs) / 1000;
    const words = [accountId, id, expires].map((number) => number.toString(36)).join('.');
    const signed = `${words}.${this.#macOf(words).toString('base64url')}`;
    return `${this.publicUrl()}${filesPath}${signed}/${encodeURIComponent(name)}`;
  }

  /** The file that the signed part of a link means; null for one that was not made here, or has expired. */
  read(signed: string): FileName | null {
    const [, account = '', file = '', expires = '', mac = ''] = signedForm.exec(signed) ?? [];
    if (mac === '') return null;
    const given = Buffer.from(mac, 'base64url');
    if (!timingSafeEqual(given, this.#macOf(`${account}.${file}.${expires}`))) return null;
    const isOver = Number.parseInt(expires, 36) * 1000 <= this.#options.clock.now().getTime();
    return isOver ? null : { accountId: Number.parseInt(account, 36), id: Number.parseInt(file, 36) };
  }

  #macOf(words: string): Buffer {
    return this.#options.secretBox.mac(words).subarray(0, macBytes);
  }
}

/** Stands for a link to a file in what a channel sends: the service fills the link in when it sends the request. */
export function placeholderOf(id: number): string {
  return `[file ${id}]`;
}

/** For processes that tell nobody of files. */
export const noFileLinks: FileLinks = { urlOf: () => '' };
