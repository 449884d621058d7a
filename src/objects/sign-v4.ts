import { createHash, createHmac } from 'node:crypto';

/** Credentials for an object store, and its region. */
export interface Credentials {
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** A request that is to be signed. Its path and its headers need no escaping; it has no query. */
export interface Unsigned {
  method: string;
  host: string;
  path: string;
  /** Values by lower-case name, without `host`. */
  headers: Readonly<Record<string, string>>;
  body: Buffer | null;
}

const algorithm = 'AWS4-HMAC-SHA256';

/** The headers that a request gets so that it counts as signed (AWS Signature Version 4, of the service `s3`). */
export function signV4(
  { method, host, path, headers, body }: Unsigned,
  { region, accessKeyId, secretAccessKey }: Credentials,
  now: Date,
): Record<string, string> {
  const moment = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = moment.slice(0, 8);
  const content = createHash('sha256')
    .update(body ?? '')
    .digest('hex');
  const all = Object.entries({ ...headers, host, 'x-amz-content-sha256': content, 'x-amz-date': moment });
  all.sort(([one], [other]) => (one < other ? -1 : 1));
  const names = all.map(([name]) => name).join(';');
  const lines = all.map(([name, value]) => `${name}:${value.trim()}\n`).join('');
  const request = [method, path, '', lines, names, content].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = [algorithm, moment, scope, createHash('sha256').update(request).digest('hex')].join('\n');
  const key = scope.split('/').reduce((from: Buffer, step) => hmac(from, step), Buffer.from(`AWS4${secretAccessKey}`));
  return {
    ...headers,
    'x-amz-content-sha256': content,
    'x-amz-date': moment,
    authorization: `${algorithm} Credential=${accessKeyId}/${scope},SignedHeaders=${names},Signature=${hmac(key, text).toString('hex')}`,
  };
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
