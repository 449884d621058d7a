/** A part of a file of JSON lines. */
export interface Part {
  bytes: Uint8Array<ArrayBuffer>;
  /** Lines of the file before this part. */
  linesBefore: number;
  lines: number;
}

const lineFeed = 10;
const mostLines = 200;
const mostBytes = 1024 * 1024;

/**
 * The file in parts of whole lines, so that its progress can be shown and no limit of a request limits the file. Bytes are
 * divided, not text: what is wrong with a line's characters is for the service to say.
 */
export function partsOf(file: Uint8Array<ArrayBuffer>): Part[] {
  const parts: Part[] = [];
  let from = 0;
  let linesBefore = 0;
  let lines = 0;
  const end = (at: number): void => {
    parts.push({ bytes: file.subarray(from, at), linesBefore, lines });
    [from, linesBefore, lines] = [at, linesBefore + lines, 0];
  };
  for (let at = 0; at < file.length;) {
    const feed = file.indexOf(lineFeed, at);
    const next = feed === -1 ? file.length : feed + 1;
    // A line that is too long by itself is sent alone.
    if (lines > 0 && (lines === mostLines || next - from > mostBytes)) end(at);
    lines += 1;
    at = next;
  }
  if (lines > 0) end(file.length);
  return parts;
}
