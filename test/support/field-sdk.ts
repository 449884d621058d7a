import sdk, { type ApiError } from '@figuro/chatwoot-sdk';
import { operation, type AnyOperation, type FieldHome, type Found, type Operation } from './field-clients.ts';

/** The JavaScript SDK: calls an operation by its path in the client, such as `contacts.create`. */
export type Sdk = (name: string, sent: object) => Promise<Found>;

type Method = (sent: object) => Promise<Found>;

/** An error that the SDK throws: the status, and the body as it came. */
export type SdkError = ApiError & { status: number; body: Found };

const isGroup = (value: unknown): value is object => typeof value === 'object' && value !== null;

// Its own types know neither `client` nor `platform`, and less of the bodies than the service they describe.
function newClient(url: string, token: string): object {
  return new sdk.default({ config: { basePath: url, with_credentials: false, credentials: 'include', token } });
}

/** The SDK as its users have it, at an address with a token. */
export function connectSdk(url: string, token: string): Sdk {
  const client = newClient(url, token);
  return (name, sent) => {
    const steps = name.split('.');
    const method = steps.pop()!;
    let group: object = client;
    for (const step of steps) group = (group as Record<string, object>)[step]!;
    return (group as Record<string, Method>)[method]!(sent);
  };
}

/** Every operation that the SDK has, by its path. */
export function operationsOfSdk(): string[] {
  const names = (group: object, path: string): string[] =>
    Object.entries(group).flatMap(([name, value]: [string, unknown]) => {
      if (name === 'chatwootAPI' || !isGroup(value)) return [];
      const own = Object.getPrototypeOf(value) as object;
      if (own === Object.prototype) return names(value, `${path}${name}.`);
      const methods = Object.getOwnPropertyNames(own).filter((method) => method !== 'constructor');
      return methods.map((method) => `${path}${name}.${method}`);
    });
  return names(newClient('http://127.0.0.1:9', 'nobody'), '');
}

/** A row of the SDK's table: its name is the path of the operation; what stands after # tells rows of one operation apart. */
export function sdkRow<Given = FieldHome>({
  sends = () => ({}),
  ...row
}: Omit<Operation<Sdk, Given>, 'call'> & { sends?: (given: Given) => object }): AnyOperation<Sdk> {
  const name = row.name.replace(/#.*$/, '');
  return operation<Sdk, Given>({ ...row, call: (client, given) => client(name, { accountId: 1, ...sends(given) }) });
}
