import { valuesOf, type Part } from '../../postgres/write-set.ts';

/** A file of a message, as the message's row describes it; its bytes are in `attachments`. */
export interface Attachment {
  id: number;
  name: string;
  /** The media type of its content. */
  type: string;
  size: number;
  /** In pixels, for pictures; null where that is not known. */
  width: number | null;
  height: number | null;
}

/** The type of a file, by its content. */
export type FileType = 'image' | 'audio' | 'video' | 'file';

/** Returns the type of file that a media type belongs to. */
export function fileTypeOf(type: string): FileType {
  const [family] = type.split('/');
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'file';
}

/**
 * Gives stored files to the messages that are inserted by the same statement; the transaction holds their rows (see
 * domain/attachments/store.ts).
 */
export function attachFiles(
  messages: readonly { id: number; conversationId: number; attachments: readonly Attachment[] }[],
): Part[] {
  const files = messages.flatMap((message) => message.attachments.map(({ id }) => ({ id, message })));
  const given: Part = {
    shape: `attached ${files.length}`,
    hot: false,
    parameters: files.flatMap(({ id, message }) => [id, message.id, message.conversationId]),
    text: (first) => `attached AS (
      UPDATE attachments a SET message_id = f.message_id, conversation_id = f.conversation_id
      FROM (VALUES ${valuesOf(first, files.length, ['bigint', 'bigint', 'bigint'])}) AS f (id, message_id, conversation_id)
      WHERE a.account_id = $1 AND a.id = f.id)`,
  };
  return files.length === 0 ? [] : [given];
}
