import { ForbiddenCall } from '../../sandbox/run.ts';
import type { HostCall, Permissions } from '../../sandbox/run.ts';
import { storableText } from '../../lib/text/storable.ts';
import { readTarget, secretsInUrl, withSecrets } from '../../sandbox/request-target.ts';
import { DoorError, UnavailableError } from './errors.ts';
import { readRequest, type FetchRequest, type HiddenHeader } from './fetch-request.ts';
import { encodeForm, findFiles, type FormField, type FormFiles } from './form-body.ts';
import type { LinkPlaceholders } from './link-placeholders.ts';
import type { RequestBudget } from './request-budget.ts';
import { checkNamed, hideSecrets, openSecret, type SecretText } from './secret-values.ts';
import type { DoorRun } from './doors.ts';
import type { Redaction } from './redaction.ts';

/** A request with the secrets in its headers. */
interface PlainRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Buffer;
  /** Whether it is not encrypted: such a request stays within the ranges that the operator has opened. */
  isPlain?: true;
}

/** An answer; `problem` instead, when there is none that could be used. */
export type FetchAnswer =
  | { status: number; headers: Readonly<Record<string, string>>; text: string }
  | { problem: { code: string; message: string } };

/** Sends a request to a public host. Never rejects, and follows no redirect. */
export type SendRequest = (request: PlainRequest, signal: AbortSignal) => Promise<FetchAnswer>;

interface FetchServices {
  redaction: Redaction;
  budget: RequestBudget;
  files: FormFiles | undefined;
  links: LinkPlaceholders;
}

/** `ctx.fetch`: listed hosts and methods only, https only, secrets to the hosts that they are bound to only. */
export function fetchDoor(
  run: DoorRun,
  send: SendRequest | undefined,
  { redaction, budget, files, links }: FetchServices,
): HostCall {
  const { permissions } = run;
  return async (input, _, signal) => {
    const { network } = permissions;
    if (!network) throw new ForbiddenCall('The manifest does not ask for `permissions.network`');
    const request = links.fillRequest(readRequest(input));
    const named = secretsInUrl(request.url).map((secret) => ({ secret, prefix: '' }));
    const secrets = [...Object.values(request.headers).flatMap(secretsIn), ...named];
    for (const secret of secrets) checkNamed(secret, permissions);
    const { host, isPlain } = checkTarget(request, network);
    for (const { secret } of secrets) checkBound(secret, { host, run });
    budget.take();
    if (!send) throw new UnavailableError('fetch');
    hideSecrets(run, redaction);
    links.hide(redaction);
    const url = withSecrets(request.url, (secret) => openSecret({ secret, prefix: '' }, run));
    const { method } = request;
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, valueOf(value, run)]),
    );
    const { body, form } = request;
    const plain = { url, method, headers, ...(body === undefined ? {} : { body }), ...(isPlain ? { isPlain } : {}) };
    const answer = form ? await sendForm(plain, form, { run, files, send, signal }) : await send(plain, signal);
    if ('problem' in answer) throw new DoorError(answer.problem.code, answer.problem.message);
    const { status, text } = answer;
    // Makes the text storable before the bot gets it: the record of the run must equal what the bot got.
    return redaction.apply({ status, headers: answer.headers, text: storableText(text, text.length) });
  };
}

function checkTarget(
  { url: text, method }: FetchRequest,
  network: NonNullable<Permissions['network']>,
): { host: string; isPlain: boolean } {
  const read = readTarget(text, network);
  if ('problem' in read) throw new DoorError('bad_url', read.problem.message);
  const { hosts, methods } = network;
  const { host, protocol } = read.url;
  if (!hosts.includes(host)) {
    throw new DoorError('network_denied', `\`permissions.network.hosts\` of the manifest does not list ${host}`);
  }
  if (!methods.some((listed) => listed === method)) {
    throw new DoorError('network_denied', `\`permissions.network.methods\` of the manifest does not list ${method}`);
  }
  return { host, isPlain: protocol === 'http:' };
}

function checkBound(secret: string, { host, run }: { host: string; run: DoorRun }): void {
  const grant = run.permissions.secrets.find((listed) => listed.name === secret);
  if (grant?.hosts.includes(host)) return;
  throw new DoorError('secret_host_mismatch', `The secret \`${secret}\` is not bound to ${host}`);
}

/** The secrets of a header. */
function secretsIn(value: string | HiddenHeader): SecretText[] {
  if (typeof value === 'string') return [];
  return 'basic' in value ? value.basic.filter((part) => typeof part !== 'string') : [value];
}

interface FormWay {
  run: DoorRun;
  files: FormFiles | undefined;
  send: SendRequest;
  signal: AbortSignal;
}

// All files of a form have their place at once: forms that had a part of theirs would wait for each other.
async function sendForm(
  request: PlainRequest,
  form: Readonly<Record<string, FormField>>,
  { run, files, send, signal }: FormWay,
): Promise<FetchAnswer> {
  const { accountId, botId, conversationId } = run.owner;
  const { files: found, bytes } = await findFiles(form, async (id) => {
    const file = await files?.find({ accountId, botId, conversationId, id });
    if (file) return file;
    throw new DoorError('unknown_file', `${id} is not a file of a public message of this conversation`);
  });
  const release = await files?.room.take({ account: accountId, bytes }, signal);
  try {
    const { type, body } = await encodeForm(form, found);
    return await send({ ...request, headers: { ...request.headers, 'content-type': type }, body }, signal);
  } finally {
    release?.();
  }
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
