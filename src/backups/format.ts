import type { SealedKey } from './sealed-key.ts';

/**
 * A backup is a line with the format's number, then frames: a byte with the type, four with the length, the payload. The last
 * frame is a checksum of all bytes before it.
 */
export const formatLine = (format: number): string => `switchboard backup ${format}\n`;
/** The format that this release writes, and the newest that it reads. */
export const newestFormat = 1;
/** Types of frames, in the order in which a backup has them; `table`, `rows` and `tableEnd` once for each table. */
export const frameTypes = { header: 1, table: 2, rows: 3, tableEnd: 4, sequences: 5, end: 6 } as const;
/** Bytes before each payload. */
export const frameHeadBytes = 5;
/** Longest payload; rows are compressed in pieces of a megabyte. */
export const maxFrameBytes = 16_777_216;
/** The algorithm of the checksum, and its length. */
export const checksum = { algorithm: 'sha256', bytes: 32 };

export type FrameType = (typeof frameTypes)[keyof typeof frameTypes];

/** A part of a backup. */
export interface Frame {
  type: FrameType;
  payload: Buffer;
}

/** The first frame: JSON. */
export interface BackupHeader {
  /** The release that wrote the backup. */
  release: string;
  /** Moment of the snapshot, ISO 8601. */
  createdAt: string;
  /** The migrations that the database had. */
  migrations: string[];
  /** Number of tables that follow. */
  tables: number;
  /** SECRET_KEY, sealed by a passphrase; null in a backup without it. */
  key: SealedKey | null;
}

/** A table before its rows. */
export interface TableHead {
  name: string;
  columns: string[];
}

/** The values of sequences by name; null for one that was never used. */
export type SequenceValues = Record<string, string | null>;

/** Returns the bytes before a payload. */
export function frameHead(type: FrameType, length: number): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUInt8(type, 0);
  head.writeUInt32BE(length, 1);
  return head;
}
