import { isUtf8 } from 'node:buffer';

/** Type of a file whose content shows no other: it is never displayed. */
export const unknownType = 'application/octet-stream';

/** Bytes at a place, as latin1. */
type Mark = readonly [at: number, bytes: string];

const marks: readonly (readonly [type: string, ...marks: Mark[]])[] = [
  ['image/png', [0, '\x89PNG\r\n\x1a\n'], [12, 'IHDR']],
  ['image/jpeg', [0, '\xff\xd8\xff']],
  ['image/gif', [0, 'GIF87a']],
  ['image/gif', [0, 'GIF89a']],
  ['image/webp', [0, 'RIFF'], [8, 'WEBP']],
  ['image/bmp', [0, 'BM'], [6, '\0\0\0\0']],
  ['image/tiff', [0, 'II*\0']],
  ['image/tiff', [0, 'MM\0*']],
  ['audio/wav', [0, 'RIFF'], [8, 'WAVE']],
  ['audio/ogg', [0, 'OggS']],
  ['audio/flac', [0, 'fLaC']],
  ['audio/amr', [0, '#!AMR']],
  ['audio/mpeg', [0, 'ID3']],
  ['audio/mpeg', [0, '\xff\xfb']],
  ['audio/mpeg', [0, '\xff\xf3']],
  ['audio/aac', [0, '\xff\xf1']],
  ['audio/aac', [0, '\xff\xf9']],
  ['video/webm', [0, '\x1aE\xdf\xa3']],
  ['application/pdf', [0, '%PDF-']],
  ['application/zip', [0, 'PK\x03\x04']],
  ['application/gzip', [0, '\x1f\x8b']],
];

// Brands of the box `ftyp`, with which ISO media files begin.
const brands: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  avis: 'image/avif',
  heic: 'image/heic',
  heix: 'image/heic',
  mif1: 'image/heic',
  'M4A ': 'audio/mp4',
  'M4B ': 'audio/mp4',
  'M4V ': 'video/mp4',
  isom: 'video/mp4',
  iso2: 'video/mp4',
  iso4: 'video/mp4',
  iso5: 'video/mp4',
  iso6: 'video/mp4',
  mp41: 'video/mp4',
  mp42: 'video/mp4',
  avc1: 'video/mp4',
  dash: 'video/mp4',
  '3gp4': 'video/mp4',
  '3gp5': 'video/mp4',
  'qt  ': 'video/quicktime',
};

// Documents that are archives: only their extension distinguishes them, since nobody looks into the archive here.
const archivesByExtension: Readonly<Record<string, string>> = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
};

/** Types that an extension promises, for files that people open by it; a group for pictures, which cameras mix up. */
const promises: Readonly<Record<string, RegExp>> = {
  png: /^image\//,
  jpg: /^image\//,
  jpeg: /^image\//,
  gif: /^image\//,
  webp: /^image\//,
  avif: /^image\//,
  bmp: /^image\//,
  pdf: /^application\/pdf$/,
};

/** Returns the media type of a file by its content; its name decides only between documents that are archives. */
export function contentTypeOf(bytes: Buffer, name: string): string {
  const found = marks.find(([, ...all]) => all.every(([at, mark]) => hasMark(bytes, at, mark)))?.[0];
  if (found === 'application/zip') return archivesByExtension[extensionOf(name)] ?? found;
  if (found) return found;
  if (hasMark(bytes, 4, 'ftyp')) return brands[bytes.toString('latin1', 8, 12)] ?? unknownType;
  return isPlainText(bytes) ? 'text/plain' : unknownType;
}

/** Returns whether a name promises another content than the file has: `photo.png` that is no picture. */
export function isMisnamed(name: string, type: string): boolean {
  return promises[extensionOf(name)]?.test(type) === false;
}

/** Returns the extension of a name in lower case, without the dot; empty if there is none. */
function extensionOf(name: string): string {
  return /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
}

function hasMark(bytes: Buffer, at: number, mark: string): boolean {
  return bytes.toString('latin1', at, at + mark.length) === mark;
}

// Text that could be taken for markup is no plain text.
function isPlainText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0) && !bytes.includes('<');
}
