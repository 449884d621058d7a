import { placeholderOf, type FileLinks } from '../../lib/file-links.ts';
import { DoorError } from './errors.ts';
import type { FetchRequest } from './fetch-request.ts';
import type { Redaction } from './redaction.ts';

/** Links that a text may have: a placeholder is much shorter than its link. */
const maxLinks = 100;
/** A placeholder, plain or as in URLs and forms. */
const placeholder = /\[file (\d{1,16})\]|%5[Bb]file(?:%20|\+)(\d{1,16})%5[Dd]/g;

/** Files of the message that a run sends, to which its requests may have links. */
interface LinkedFiles {
  accountId: number;
  files: readonly { id: number; name: string }[];
}

/**
 * Fills in links to the files of a message in place of their placeholders. The plugin and the record of its run have the
 * placeholders alone, so that a run can be repeated after its links have expired.
 */
export class LinkPlaceholders {
  readonly #names: ReadonlyMap<number, string>;
  readonly #accountId: number;
  readonly #links: FileLinks | undefined;
  /** Made once: a text has the same links when it is signed and when it is sent. */
  readonly #made = new Map<number, string>();

  constructor({ accountId, files }: LinkedFiles, links: FileLinks | undefined) {
    this.#names = new Map(files.map(({ id, name }) => [id, name]));
    this.#accountId = accountId;
    this.#links = links;
  }

  /** Returns the text with its links. Throws a DoorError for too many. */
  fill(text: string): string {
    let left = maxLinks;
    return text.replace(placeholder, (found: string, plain?: string, encoded?: string) => {
      const link = this.#linkTo(Number(plain ?? encoded));
      if (link === '') return found;
      left -= 1;
      if (left < 0) throw new DoorError('bad_request', `A text may have ${maxLinks} links to files`);
      return plain === undefined ? encodeURIComponent(link) : link;
    });
  }

  /** Returns the request with links in its headers, its body and the texts of its form. Throws a DoorError for too many. */
  fillRequest(request: FetchRequest): FetchRequest {
    if (this.#names.size === 0) return request;
    const { headers, body, form } = request;
    return {
      ...request,
      headers: this.#fillTexts(headers),
      body: body === undefined ? body : this.fill(body),
      form: form && this.#fillTexts(form),
    };
  }

  /** Has the links replaced by their placeholders: a host may repeat what it got, also in an earlier run. */
  hide(redaction: Redaction): void {
    for (const id of this.#names.keys()) {
      const link = this.#linkTo(id);
      redaction.hide(link, placeholderOf(id));
      // The part that admits, without the rest of the link.
      redaction.hide(link.split('/').at(-2) ?? '', placeholderOf(id));
    }
  }

  #fillTexts<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value | string> {
    const filled = (value: Value): Value | string => (typeof value === 'string' ? this.fill(value) : value);
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, filled(value)]));
  }

  #linkTo(id: number): string {
    const name = this.#names.get(id);
    if (name === undefined || !this.#links) return '';
    const link = this.#made.get(id) ?? this.#links.urlOf({ accountId: this.#accountId, id, name });
    this.#made.set(id, link);
    return link;
  }
}
