import described from '../clients/n8n-operations.json' with { type: 'json' };
import { operation, type AnyOperation, type FieldHome, type Found, type Operation } from './field-clients.ts';

/** What a user of the node fills in; all else is sent as the node has it. */
export interface Filled {
  at?: Record<string, number | string>;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
}

/** The node's way to call one of its operations. */
export type N8n = (name: string, filled: Filled) => Promise<Found>;

interface Described {
  method: string;
  path: string;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
}

const operations: Readonly<Record<string, Described>> = described.operations;

/** The operations that the node has and the service too, by resource and name. */
export const n8nOperations = Object.keys(operations);
/** Method and path of those that the service has none of. */
export const n8nAbsent: readonly string[] = described.absent;

/** A refusal, on which the node stops its workflow. */
export class N8nError extends Error {
  readonly status: number;
  readonly body: Found;

  constructor(status: number, body: Found) {
    super(`${status} ${JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
  }
}

/** The node with the credential of an address and a token, which it sends in a header of its own spelling. */
export function connectN8n(url: string, token: string): N8n {
  const call = async (method: string, path: string, body?: object): Promise<Found> => {
    const response = await fetch(url + path, {
      method,
      headers: { 'Api-Access-Token': token, Accept: 'application/json', 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    const answer: Found = text === '' ? undefined : JSON.parse(text);
    if (!response.ok) throw new N8nError(response.status, answer);
    return answer;
  };
  return (name, { at = {}, query = {}, body = {} }) => {
    const known = operations[name];
    const [method, pattern] = known ? [known.method, known.path] : (name.split(' ') as [string, string]);
    const path = pattern.replaceAll(/:(\w+)/g, (_, id: string) => encodeURIComponent(at[id] ?? 1));
    const asked = Object.entries({ ...known?.query, ...query }).map(([key, value]): [string, string] => [
      key,
      String(value),
    ]);
    const sent = { ...known?.body, ...body };
    const search = asked.length > 0 ? `?${new URLSearchParams(asked).toString()}` : '';
    return call(method, path + search, method === 'GET' || Object.keys(sent).length === 0 ? undefined : sent);
  };
}

/** A row of the node's table; what stands after # tells rows of one operation apart. */
export function n8nRow<Given extends object = FieldHome>(
  row: Omit<Operation<N8n, Given & Filled>, 'call'>,
): AnyOperation<N8n> {
  const name = row.name.replace(/#.*$/, '');
  return operation<N8n, Given & Filled>({
    ...row,
    call: (client, { at, query, body }) =>
      client(name, { ...(at ? { at } : {}), ...(query ? { query } : {}), ...(body ? { body } : {}) }),
  });
}
