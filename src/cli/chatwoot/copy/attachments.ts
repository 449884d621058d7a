import { nameOf } from '../files.ts';
import { isLonger, recordOf, textOf, type Foreign } from '../values.ts';

const fileTypes = new Set(['image', 'audio', 'video', 'file']);
const mostListed = 50;

/** Returns the attachments of a message in Chatwoot's order, none for a deleted message. */
export function attachmentsOf({ attachments, content_attributes: attributes }: Foreign): Foreign[] {
  const isDeleted = recordOf(attributes)['deleted'] === true;
  return Array.isArray(attachments) && !isDeleted ? attachments.slice(0, mostListed).map(recordOf) : [];
}

/** Returns the sentence with which the report accepts a missing file. */
export function acceptedSentence(problem: string): string {
  return `${problem}: it is not asked for again (--accept-missing)`;
}

/** Returns whether an attachment is a file, not a location or a link. */
export function isFile({ file_type: type }: Foreign): boolean {
  return fileTypes.has(textOf(type, 32) ?? '');
}

/** Returns the fields that stand for an attachment that is no file or was not copied: links to files end with their server. */
export function wordsOf(attachment: Foreign): Foreign {
  const { file_type: type, fallback_title: fallback, data_url: link } = attachment;
  const url = isLonger(link, 2048) ? null : textOf(link, 2048);
  const title = textOf(fallback, 255) ?? (isFile(attachment) && url !== null ? textOf(nameOf(url), 255) : null);
  const more = isFile(attachment) ? {} : { ...(url === null ? {} : { url }), ...placeOf(attachment) };
  return { file_type: textOf(type, 32), ...(title === null ? {} : { title }), ...more };
}

function placeOf({ file_type: type, coordinates_lat: lat, coordinates_long: long }: Foreign): object {
  return type === 'location' && typeof lat === 'number' && typeof long === 'number' ? { lat, long } : {};
}
