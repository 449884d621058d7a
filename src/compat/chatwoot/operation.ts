/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** Answer of our routes. */
export interface Told {
  status: number;
  /** Undefined if there is none, or if it cannot be read. */
  body: unknown;
  headers: Readonly<Record<string, unknown>>;
}

/** Returns the problem of a URL; null if there is none. */
export type CheckUrl = (url: string) => Promise<{ rule: string; message: string } | null>;

/** A request in Chatwoot's terms, for the translations of its body and its answer. */
export interface Asked {
  /** Our path. */
  path: string;
  /** Prefix of the account's paths; '' outside of accounts. */
  account: string;
  /** Parameters of Chatwoot's path. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** The body as it was sent, without a wrapper. */
  sent: Json;
  /** Checks a URL that webhooks are to call. */
  checkUrl: CheckUrl;
  /** A random UUID. */
  uuid: () => string;
  now: () => Date;
  /** Whether our route repeated a stored answer, and did nothing. */
  isReplayed: () => boolean;
  /** Calls our routes in the caller's name; each POST of a request with an Idempotency-Key has a key derived from that. */
  ask: (method: string, path: string, body?: Json) => Promise<Told>;
}

/** Differences between an operation of Chatwoot and ours; without a field there is none. */
export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /**
   * A GET of ours that is called in place of this operation, which has no route here: it admits the caller, and `answer` makes
   * further requests. Its parameters are those with the same names; its query is that of this path.
   */
  instead?: string;
  /** The name of an object in which the body may be wrapped. */
  wrapper?: string;
  query?: (query: URLSearchParams) => void;
  body?: (body: Json, asked: Asked) => Json | Promise<Json>;
  /** Translates a successful answer. */
  answer?: (body: never, asked: Asked) => unknown;
  /** The answer contains more than our entity tag covers: it has none. */
  untagged?: true;
}

interface Compiled {
  operation: Operation;
  pattern: RegExp;
}

/** Finds the operation of a request, and the parameters of its path. */
export class OperationTable {
  readonly #byMethod: ReadonlyMap<string, readonly Compiled[]>;

  constructor(operations: readonly Operation[]) {
    // Literal segments first, as in our router.
    const compiled = operations.map(compile).toSorted((one, other) => countNames(one) - countNames(other));
    this.#byMethod = Map.groupBy(compiled, ({ operation }) => operation.method);
  }

  find(method: string, path: string): { operation: Operation; params: Record<string, string> } | null {
    const asked = method === 'PUT' ? 'PATCH' : method === 'HEAD' ? 'GET' : method;
    for (const { operation, pattern } of this.#byMethod.get(asked) ?? []) {
      const found = pattern.exec(path);
      if (found) return { operation, params: { ...found.groups } };
    }
    return null;
  }
}

function compile(operation: Operation): Compiled {
  const pattern = operation.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)');
  return { operation, pattern: new RegExp(`^${pattern}$`) };
}

function countNames({ operation }: Compiled): number {
  return operation.path.split(':').length;
}
