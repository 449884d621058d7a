import { ForbiddenCall } from '../../sandbox/run.ts';
import type { HostCall, Permissions } from '../../sandbox/run.ts';
import { storableText } from '../../lib/text/storable.ts';
import { readUrl } from '../../outbound/url.ts';
import { DoorError, UnavailableError } from './errors.ts';
import { readRequest, type FetchRequest, type HiddenHeader } from './fetch-request.ts';
import type { RequestBudget } from './request-budget.ts';
import { checkNamed, hideSecrets, openSecret, type SecretText } from './secret-values.ts';
import type { DoorRun } from './doors.ts';
import type { Redaction } from './redaction.ts';

/** A request with the secrets in its headers. */
interface PlainRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/** An answer; `problem` instead, when there is none that could be used. */
export type FetchAnswer =
  | { status: number; headers: Readonly<Record<string, string>>; text: string }
  | { problem: { code: string; message: string } };

/** Sends a request to a public host. Never rejects, and follows no redirect. */
export type SendRequest = (request: PlainRequest, signal: AbortSignal) => Promise<FetchAnswer>;

/** `ctx.fetch`: listed hosts and methods only, https only, secrets to the hosts that they are bound to only. */
export function fetchDoor(
  run: DoorRun,
  send: SendRequest | undefined,
  { redaction, budget }: { redaction: Redaction; budget: RequestBudget },
): HostCall {
  const { permissions } = run;
  return async (input, _, signal) => {
    const { network } = permissions;
    if (!network) throw new ForbiddenCall('The manifest does not ask for `permissions.network`');
    const request = readRequest(input);
    for (const secret of Object.values(request.headers).flatMap(secretsIn)) checkNamed(secret, permissions);
    const host = checkTarget(request, network);
    budget.take();
    if (!send) throw new UnavailableError('fetch');
    hideSecrets(run, redaction);
    const headers = headersOf(request, { host, run });
    const { url, method, body } = request;
    const answer = await send({ url, method, headers, ...(body === undefined ? {} : { body }) }, signal);
    if ('problem' in answer) throw new DoorError(answer.problem.code, answer.problem.message);
    const { status, text } = answer;
    // Makes the text storable before the bot gets it: the record of the run must equal what the bot got.
    return redaction.apply({ status, headers: answer.headers, text: storableText(text, text.length) });
  };
}

function checkTarget(
  { url: text, method }: FetchRequest,
  { hosts, methods }: NonNullable<Permissions['network']>,
): string {
  const read = readUrl(text, { httpsOnly: true });
  if ('problem' in read) throw new DoorError('bad_url', read.problem.message);
  const { host } = read.url;
  if (!hosts.includes(host)) {
    throw new DoorError('network_denied', `\`permissions.network.hosts\` of the manifest does not list ${host}`);
  }
  if (!methods.some((listed) => listed === method)) {
    throw new DoorError('network_denied', `\`permissions.network.methods\` of the manifest does not list ${method}`);
  }
  return host;
}

/** The secrets of a header. */
function secretsIn(value: string | HiddenHeader): SecretText[] {
  if (typeof value === 'string') return [];
  return 'basic' in value ? value.basic.filter((part) => typeof part !== 'string') : [value];
}

function headersOf({ headers }: FetchRequest, { host, run }: { host: string; run: DoorRun }): Record<string, string> {
  const plain = Object.entries(headers).map(([name, value]) => {
    for (const { secret } of secretsIn(value)) {
      const grant = run.permissions.secrets.find((listed) => listed.name === secret);
      if (!grant?.hosts.includes(host))
        throw new DoorError('secret_host_mismatch', `The secret \`${secret}\` is not bound to ${host}`);
    }
    return [name, valueOf(value, run)] as const;
  });
  return Object.fromEntries(plain);
}

function valueOf(value: string | HiddenHeader, run: DoorRun): string {
  if (typeof value === 'string') return value;
  if (!('basic' in value)) return openSecret(value, run);
  const [user = '', password = ''] = value.basic.map((part) =>
    typeof part === 'string' ? part : openSecret(part, run),
  );
  if (user.includes(':')) throw new DoorError('bad_request', 'The user of `basicAuth` must not have a colon');
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
