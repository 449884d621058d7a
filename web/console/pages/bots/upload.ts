import type { Reply } from '../../../shared/call.ts';
import { upload, type Uploaded } from '../../upload.ts';

/** Sends the archive of a plugin, and tells how far it is. Rejects with a ServiceError. */
export function uploadPlugin(
  file: File,
  progressed: (uploaded: Uploaded) => void,
): Promise<Reply<'POST /platform/api/v1/plugins'>> {
  const form = new FormData();
  form.set('file', file);
  return upload('POST /platform/api/v1/plugins', { form, progressed });
}
