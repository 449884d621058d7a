import type { Reply } from '../../../shared/call.ts';
import { errorOf, unreachable } from '../../../shared/service-error.ts';

/** How far an upload is, in bytes. */
export interface Uploaded {
  done: number;
  total: number;
}

/** Sends the archive of a plugin, and tells how far it is. Rejects with a ServiceError. */
export function uploadPlugin(
  file: File,
  progressed: (uploaded: Uploaded) => void,
): Promise<Reply<'POST /platform/api/v1/plugins'>> {
  const form = new FormData();
  form.set('file', file);
  // Fetch does not tell how far a request is.
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    request.upload.addEventListener('progress', ({ loaded, total }) => progressed({ done: loaded, total }));
    request.addEventListener('error', () => reject(unreachable()));
    request.addEventListener('load', () => {
      const reply = parse(request.responseText);
      if (request.status >= 200 && request.status < 300) resolve(reply as Reply<'POST /platform/api/v1/plugins'>);
      else reject(errorOf(request.status, reply));
    });
    request.open('POST', '/platform/api/v1/plugins');
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
