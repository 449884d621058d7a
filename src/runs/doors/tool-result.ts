import { storableText } from '../../lib/text/storable.ts';
import { DoorError } from './errors.ts';

/** Bytes of a result. */
const maxBytes = 32_768;

/**
 * The part of a JSON answer that a pointer names, as text; null or an empty pointer for all of it. A result that is too long is
 * refused: one that is cut would look as if there was no more. Throws a DoorError.
 */
export function readResult(text: string, pointer: string | null): string {
  const value = text.trim() === '' ? null : parse(text);
  const found = find(value, pointer ?? '');
  if (found === undefined) throw new DoorError('no_result', `The answer has nothing at ${pointer}`);
  const result = typeof found === 'string' ? found : write(found);
  if (Buffer.byteLength(result) > maxBytes)
    throw new DoorError('too_large', `A result may have ${maxBytes} bytes: let \`result\` name a part of the answer`);
  return storableText(result, result.length);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DoorError('not_json', 'The answer is no JSON');
  }
}

function find(value: unknown, pointer: string): unknown {
  let found = value;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    // A list has only what it holds, not its length.
    const isThere = Array.isArray(found) ? /^\d+$/.test(key) : true;
    if (typeof found !== 'object' || found === null || !isThere || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

// A value may be nested too deep to be written, although it was read.
function write(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw new DoorError('too_large', 'The result is nested too deep');
  }
}
