import { OperatorError } from '../../lib/operator-error.ts';
import { openGate } from '../../lib/outbound-gate.ts';
import { sentenceOf } from '../../outbound/failure-sentences.ts';
import { createOutboundHttp, type OutboundHttp, type OutboundResult } from '../../outbound/http.ts';
import { hostOf, isAddress, readUrl } from '../../outbound/url.ts';
import { endIfStopped, goesOn, waitAfter } from './patience.ts';

/** Address and credentials of the Chatwoot server. */
export interface ClientOptions {
  url: string;
  token: string;
  /** Whether the server may be at a private address. */
  allowsPrivate: boolean;
  /** Private ranges that the service may call, whatever the server's address. */
  allowCidrs: readonly string[];
  /** The pause before a failed request is made again, in milliseconds; doubled with each further one. */
  pauseMs: number;
  /** Ends the work. */
  stopped: AbortSignal;
}

/** Thrown when the Chatwoot server answers none of the retries of a request; `status` is its last answer. */
export class NoAnswer extends OperatorError {
  readonly status: number | null;

  constructor(status: number | null, message: string) {
    super(message);
    this.status = status;
  }
}

const everywhere = ['0.0.0.0/0', '::/0'];
const [timeoutMs, maxResponseBytes, connectionsPerOrigin] = [60_000, 64 * 1024 * 1024, 8];
const mostTries = 7;
const refused = new Set([401, 403]);

/** Calls Chatwoot's REST API through `outbound/` without following redirects: the token goes to the named server alone. */
export class ChatwootClient {
  /** The server's URL without a slash at its end. */
  readonly base: string;
  readonly #options: ClientOptions;
  readonly #outbound: OutboundHttp;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.base = baseOf(options.url, options);
    const allowCidrs = options.allowsPrivate ? everywhere : options.allowCidrs;
    this.#outbound = createOutboundHttp({
      gate: openGate,
      allowCidrs,
      timeoutMs,
      maxResponseBytes,
      connectionsPerOrigin,
    });
  }

  /** Returns the answer of a path below `/api/v1`; null for 404. Throws NoAnswer and OperatorError. */
  async get(path: string, query: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const search = new URLSearchParams(query).toString();
    const target = `${this.base}/api/v1${path}${search === '' ? '' : `?${search}`}`;
    const { stopped } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const result = await this.#outbound.request(target, {
        method: 'GET',
        headers: { api_access_token: this.#options.token, accept: 'application/json' },
        signal: stopped,
      });
      endIfStopped(stopped);
      if (result.status === 404) return null;
      const read = this.#read(result, path);
      if ('value' in read) return read.value;
      if (tries === mostTries) throw new NoAnswer(result.status, this.#gaveUp(read.problem));
      await waitAfter(result, tries, this.#options);
    }
  }

  /** Whether the import was stopped. */
  get isStopped(): boolean {
    return this.#options.stopped.aborted;
  }

  async close(): Promise<void> {
    await this.#outbound.close();
  }

  // Returns a problem for failures that a retry may resolve; throws for the others, which end the import.
  #read(result: OutboundResult, path: string): { value: unknown } | { problem: string } {
    const { status, ok, errorCode, body, bodyCut } = result;
    if (errorCode === 'blocked_address')
      throw new OperatorError(`${this.base} is at a private address: give --allow-private if that is meant.`);
    if (errorCode === 'bad_url') throw new OperatorError(`${this.base} cannot be called.`);
    if (status === null) return { problem: sentenceOf(errorCode ?? 'connect') };
    if (refused.has(status))
      throw new OperatorError(
        `The server refused ${path} (${status}): the token must be that of an administrator of the account.`,
      );
    if (status >= 300 && status < 400)
      throw new OperatorError(`${this.base} redirects (${status}): give the --url to which it leads.`);
    if (!ok) return { problem: `It answered ${status}` };
    if (bodyCut) return { problem: `Its answer to ${path} broke off, or has more than ${maxResponseBytes} bytes` };
    try {
      return { value: JSON.parse(body) as unknown };
    } catch {
      return { problem: `Its answer to ${path} is no JSON` };
    }
  }

  #gaveUp(problem: string): string {
    return `${this.base} did not answer ${mostTries} times: ${problem}. ${goesOn}`;
  }
}

function baseOf(given: string, { allowsPrivate }: ClientOptions): string {
  const read = readUrl(given, { httpsOnly: false });
  if ('problem' in read) throw new OperatorError(`--url: ${read.problem.message}`);
  const { url } = read;
  if (url.search !== '' || url.hash !== '')
    throw new OperatorError('--url: give it without a query, such as https://app.chatwoot.com.');
  const isLocal = isAddress(hostOf(url)) || hostOf(url) === 'localhost';
  if (url.protocol === 'http:' && !allowsPrivate)
    throw new OperatorError(
      `--url: over http:// everybody on the way would read the token${isLocal ? '' : ', use https://'}; --allow-private takes it for a private network.`,
    );
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}
