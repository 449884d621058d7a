import { Refusal } from './refusal.ts';

/** How an upload goes: what ends it, and who is told how much of it has gone, from 0 to 1. */
export interface Way {
  signal: AbortSignal;
  progress: (share: number) => void;
}

/** An upload may take its time, but not stand still for so long. */
const patienceMs = 20_000;
/** Sent bytes may still wait in buffers, which fill before the line does. */
const answerMs = 60_000;

/** Posts a form; `fetch` would not tell how much of it has gone. Rejects with a Refusal when nothing answers. */
export function upload(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: FormData,
  { signal, progress }: Way,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Refusal(0));
    const request = new XMLHttpRequest();
    const end = () => request.abort();
    let timer = 0;
    const wait = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(end, ms);
    };
    request.open('POST', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      wait(loaded < total ? patienceMs : answerMs);
      progress(Math.floor((loaded / total) * 100) / 100);
    });
    request.addEventListener('loadend', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      const { status, responseText: text } = request;
      const after = request.getResponseHeader('retry-after');
      if (status === 0) reject(new Refusal(0));
      else resolve(new Response(text, { status, ...(after ? { headers: { 'retry-after': after } } : {}) }));
    });
    signal.addEventListener('abort', end);
    request.send(body);
    wait(patienceMs);
  });
}
