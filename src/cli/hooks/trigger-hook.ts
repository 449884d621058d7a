import { readFile } from 'node:fs/promises';
import { OperatorError } from '../../lib/operator-error.ts';
import { systemClock, systemRandom } from '../../lib/ports.ts';
import { postTo } from '../../lib/service-client.ts';
import { printAnswer } from '../terminal/print.ts';
import { formType, signSample, type SampleScheme } from './sign-request.ts';

/** The options of `trigger hook`. */
export interface TriggerHookOptions {
  verify: SampleScheme;
  secret?: string;
  data?: string;
  id?: string;
  json?: boolean;
}

const answerMs = 10_000;

/** The command `trigger hook`: sends a request to the URL of a hook, signed as the sender would; the exit code is 1 if it is refused. */
export async function triggerHook(url: string, options: TriggerHookOptions): Promise<void> {
  const { verify, secret = '', id = systemRandom.uuid(), data } = options;
  if (!URL.canParse(url)) throw new OperatorError(`${url} is not a URL: give the one that the hook was created with.`);
  if (verify !== 'none' && secret === '')
    throw new OperatorError(`A request is signed for ${verify} with the secret of the hook: give --secret.`);
  const body = data === undefined ? sampleOf(verify, id) : await read(data);
  const type = isJson(body) ? 'application/json' : formType;
  const signed = signSample(verify, { url, body, type, secret, id, now: systemClock.now() });
  const { status, error } = await postTo(signed.url, { headers: signed.headers, body, timeoutMs: answerMs });
  printAnswer({ id, status, error, body }, options, () => [
    status === null ? `Not sent: ${error}` : `Sent request ${id}: ${status} ${meaningOf(status)}`,
  ]);
  if (status === null || status >= 300) process.exitCode = 1;
}

async function read(data: string): Promise<string> {
  if (!data.startsWith('@')) return data;
  const path = data.slice(1);
  return readFile(path, 'utf8').catch(() => {
    throw new OperatorError(`The file ${path} cannot be read: give --data as text, or as @FILE.`);
  });
}

// With the id where the sender of the scheme puts it.
function sampleOf(verify: SampleScheme, id: string): string {
  const at = systemClock.now().getTime();
  if (verify === 'twilio')
    return new URLSearchParams({ MessageSid: id, From: '+14155552671', Body: 'Hello' }).toString();
  if (verify === 'telegram')
    return JSON.stringify({ update_id: at, message: { message_id: 1, chat: { id: 1 }, text: 'Hello' } });
  return JSON.stringify({ id, event_id: id, type: 'sample', created_at: Math.floor(at / 1_000) });
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

const meanings: Readonly<Record<number, string>> = {
  401: 'refused: the signature is not valid for this hook',
  404: 'no hook has this URL',
  413: 'the body is too large',
  429: 'rate limited',
  503: 'the hook takes no requests at the moment: a secret is missing, or the plugin does not run',
};

function meaningOf(status: number): string {
  return meanings[status] ?? (status < 300 ? 'accepted' : 'refused');
}
