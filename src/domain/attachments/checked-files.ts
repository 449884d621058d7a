import { invalid, tooLarge } from '../../errors.ts';
import { contentTypeOf, isMisnamed, unknownType } from './content-type.ts';
import { safeName } from '../../lib/text/file-name.ts';
import { pictureSizeOf } from './picture-size.ts';
import type { Attachment } from '../../records/messages/attachment.ts';

/** Limits of the files of a message. */
export interface AttachmentBounds {
  /** Bytes of one file. */
  bytes: number;
  perMessage: number;
}

/** A file of a form, as it was sent. */
interface SentFile {
  name: string;
  bytes: Buffer;
}

/** A file that may be stored, with its media type. */
export type CheckedFile = Omit<Attachment, 'id'> & { bytes: Buffer };

// Larger pictures are not shown: unpacking one takes gigabytes.
const maxPixels = 250_000_000;

/** Returns a form's files with types by their content. Errors: 422 for too many, empty and misnamed ones, 413 for large ones. */
export function checkFiles(
  files: readonly SentFile[],
  bounds: AttachmentBounds,
  pointer = '/attachments[]',
): CheckedFile[] {
  if (files.length > bounds.perMessage)
    throw invalid(pointer, 'maxItems', `A message may have ${bounds.perMessage} files at most`);
  return files.map((file, index) => check(file, `${pointer}/${index}`, bounds));
}

function check({ name: given, bytes }: SentFile, pointer: string, bounds: AttachmentBounds): CheckedFile {
  const name = safeName(given);
  if (bytes.length === 0) throw invalid(pointer, 'minLength', `The file ${name} is empty`);
  if (bytes.length > bounds.bytes) throw tooLarge(bounds.bytes, `The file ${name}`);
  const type = contentTypeOf(bytes, name);
  if (isMisnamed(name, type)) throw invalid(pointer, 'type', `The content of ${name} is not what its name says`);
  const picture = pictureSizeOf(bytes, type);
  const isHuge = picture !== null && picture.width * picture.height > maxPixels;
  return {
    name,
    type: isHuge ? unknownType : type,
    size: bytes.length,
    width: picture?.width ?? null,
    height: picture?.height ?? null,
    bytes,
  };
}
