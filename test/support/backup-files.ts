import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import { formatLine, frameHead, frameHeadBytes, frameTypes, type BackupHeader } from '../../src/backups/format.ts';
import type { Frame, FrameType, TableHead } from '../../src/backups/format.ts';

const start = formatLine(1).length;

/** The header of a backup. */
export function headerOf(path: string): BackupHeader {
  return JSON.parse(framesOf(path)[0]!.payload.toString()) as BackupHeader;
}

/** The rows of a backup, in the text format of COPY, by table. */
export function rowsInBackup(path: string): Record<string, string> {
  const tables: Record<string, string> = {};
  let name = '';
  for (const { type, payload } of framesOf(path)) {
    if (type === frameTypes.table) {
      ({ name } = JSON.parse(payload.toString()) as TableHead);
      tables[name] = '';
    }
    if (type === frameTypes.rows) tables[name] += zstdDecompressSync(payload).toString();
  }
  return tables;
}

/** Copies a backup with another header, and the checksum that belongs to it. */
export function withHeader(from: string, to: string, header: Partial<BackupHeader>): void {
  const payload = Buffer.from(JSON.stringify({ ...headerOf(from), ...header }));
  rewrite(from, to, (frame) => (frame.type === frameTypes.header ? { ...frame, payload } : frame));
}

/** Copies a backup that counts other rows than it has. */
export function withMiscounts(from: string, to: string): void {
  const payload = Buffer.from(JSON.stringify({ rows: 999 }));
  rewrite(from, to, (frame) => (frame.type === frameTypes.tableEnd ? { ...frame, payload } : frame));
}

function rewrite(from: string, to: string, change: (frame: Frame) => Frame): void {
  const frames = framesOf(from).slice(0, -1).map(change);
  const body = Buffer.concat([
    Buffer.from(formatLine(1)),
    ...frames.flatMap((frame) => [frameHead(frame.type, frame.payload.length), frame.payload]),
  ]);
  const sum = createHash('sha256').update(body).digest();
  writeFileSync(to, Buffer.concat([body, frameHead(frameTypes.end, sum.length), sum]));
}

function framesOf(path: string): Frame[] {
  const bytes = readFileSync(path);
  const frames: Frame[] = [];
  for (let at = start; at < bytes.length;) {
    const length = bytes.readUInt32BE(at + 1);
    const payload = bytes.subarray(at + frameHeadBytes, at + frameHeadBytes + length);
    frames.push({ type: bytes.readUInt8(at) as FrameType, payload });
    at += frameHeadBytes + length;
  }
  return frames;
}
