/** Width and height of a picture, in pixels. */
export interface PictureSize {
  width: number;
  height: number;
}

type Read = (bytes: Buffer) => PictureSize | null;

const readers: Readonly<Record<string, Read>> = {
  'image/png': (bytes) => sized(bytes.length >= 24, () => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]),
  'image/gif': (bytes) => sized(bytes.length >= 10, () => [bytes.readUInt16LE(6), bytes.readUInt16LE(8)]),
  'image/jpeg': readJpeg,
  'image/webp': readWebp,
};

/** The size that a picture says it has; null where that is not known. Nothing is decoded. */
export function pictureSizeOf(bytes: Buffer, type: string): PictureSize | null {
  return readers[type]?.(bytes) ?? null;
}

function sized(isThere: boolean, read: () => [number, number]): PictureSize | null {
  if (!isThere) return null;
  const [width, height] = read();
  return width > 0 && height > 0 ? { width, height } : null;
}

const maxSegments = 1000;

// Segments follow each other until the one that begins the picture.
function readJpeg(bytes: Buffer): PictureSize | null {
  let at = 2;
  for (let segment = 0; segment < maxSegments && at + 9 <= bytes.length; segment += 1) {
    if (bytes[at] !== 0xff) return null;
    const kind = bytes[at + 1] ?? 0;
    const isFrame = kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind);
    const here = at;
    if (isFrame) return sized(true, () => [bytes.readUInt16BE(here + 7), bytes.readUInt16BE(here + 5)]);
    at += kind === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

function readWebp(bytes: Buffer): PictureSize | null {
  if (bytes.length < 30) return null;
  const form = bytes.toString('latin1', 12, 16);
  if (form === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (form === 'VP8 ') return sized(true, () => [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff]);
  if (form !== 'VP8L') return null;
  const bits = bytes.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
