import { personHeader, urlOf, type Operation, type Reply } from '../shared/call.ts';
import { errorOf, unreachable } from '../shared/service-error.ts';
import { currentAccount, currentPerson, lookAgain } from './session.ts';

/** How far an upload is, in bytes. */
export interface Uploaded {
  done: number;
  total: number;
}

interface Sent {
  /** Path parameters. */
  at?: Readonly<Record<string, number | string>>;
  form: FormData;
  /** The same for every try of one change: it then happens once. */
  key?: string;
  signal?: AbortSignal;
  progressed: (uploaded: Uploaded) => void;
}

/** Calls an operation with a form, and tells how far it is. Rejects with a ServiceError, and when it is aborted. */
export function upload<Name extends Operation>(name: Name, sent: Sent): Promise<Reply<Name>> {
  const { at, form, key, signal, progressed } = sent;
  const [method = 'POST', path = ''] = name.split(' ');
  // Fetch does not tell how far a request is.
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    request.upload.addEventListener('progress', ({ loaded, total }) => progressed({ done: loaded, total }));
    request.addEventListener('error', () => reject(unreachable()));
    request.addEventListener('abort', () => reject(new Error('The upload was cancelled.')));
    request.addEventListener('load', () => {
      const reply = parse(request.responseText);
      if (request.status === 401) void lookAgain();
      if (request.status >= 200 && request.status < 300) resolve(reply as Reply<Name>);
      else reject(errorOf(request.status, reply));
    });
    signal?.addEventListener('abort', () => request.abort());
    request.open(method, urlOf(path, { account_id: currentAccount()?.id, ...at }));
    const headers = { ...personHeader(currentPerson()), ...(key === undefined ? {} : { 'idempotency-key': key }) };
    for (const [header, value] of Object.entries(headers)) request.setRequestHeader(header, value);
    request.send(form);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
