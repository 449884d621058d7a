import { upload, type Uploaded } from '../../upload.ts';
import type { Message } from './transcript.ts';

interface Sending {
  conversationId: number;
  content: string;
  isPrivate: boolean;
  files: readonly File[];
  /** The same for every try. */
  key: string;
}

/** Sends a message with files, as a form. Rejects with a ServiceError. */
export function sendFiles(
  { conversationId, content, isPrivate, files, key }: Sending,
  { progressed, signal }: { progressed: (uploaded: Uploaded) => void; signal: AbortSignal },
): Promise<Message> {
  const form = new FormData();
  form.set('content', content);
  form.set('message_type', 'outgoing');
  form.set('private', String(isPrivate));
  for (const file of files) form.append('attachments[]', file);
  const at = { conversation_id: conversationId };
  return upload('POST conversations/:conversation_id/messages', { at, form, key, progressed, signal });
}
