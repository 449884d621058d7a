import { SourceMap, type SourceMapPayload } from 'node:module';

// Written by the bundler behind the code; the code itself may contain such a comment anywhere else.
const mapComment = /\n\/\/# sourceMappingURL=data:application\/json;base64,([A-Za-z0-9+/=]+)\s*$/;
const frame = /\bbot\.js:(\d+):(\d+)/g;
/** Characters that the isolate puts before the first line of the code. */
const prefixChars = '"use strict";'.length;

/** The code of a bundle without its source map, which no bot needs. */
export function withoutMap(code: string): string {
  const at = code.lastIndexOf('\n//# sourceMappingURL=');
  return at !== -1 && mapComment.test(code.slice(at)) ? code.slice(0, at) : code;
}

/**
 * An error's text with the lines of its stack in the author's files, and without our own. The text itself when the bundle
 * has no source map.
 */
export function inAuthorsFiles(error: string, code: string): string {
  if (!error.includes('bot.js:')) return error;
  const lines = error.split('\n').filter((line) => !line.includes('(switchboard:'));
  const map = readMap(code);
  if (!map) return lines.join('\n');
  return lines
    .map((line) => line.replaceAll(frame, (found, row, column) => place(map, [row, column]) ?? found))
    .join('\n');
}

function readMap(code: string): SourceMap | null {
  const at = code.lastIndexOf('\n//# sourceMappingURL=');
  const encoded = at === -1 ? undefined : mapComment.exec(code.slice(at))?.[1];
  if (encoded === undefined) return null;
  try {
    return new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) as SourceMapPayload);
  } catch {
    return null;
  }
}

function place(map: SourceMap, [row, column]: [string, string]): string | null {
  const line = Number(row) - 1;
  const entry = map.findEntry(line, Number(column) - 1 - (line === 0 ? prefixChars : 0));
  if (!('originalSource' in entry)) return null;
  return `${entry.originalSource.replace(/^package:/, '')}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}
