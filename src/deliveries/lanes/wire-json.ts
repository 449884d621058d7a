import { storableJson } from '../../lib/text/storable.ts';
import type { Wire } from '../core/verdict.ts';

const maxKeptHeaderChars = 8192;

/** Returns the wire data as JSON to store. `startedAt` is ISO text; headers of the answer are kept up to 8 KB. */
export function wireJson(wire: Wire | null): string | null {
  if (wire === null) return null;
  const { startedAt, errorDetail, sent, received, times } = wire;
  return storableJson({ startedAt, errorDetail, sent, received: received && kept(received), times });
}

function kept(headers: Readonly<Record<string, string>>): Record<string, string> {
  let room = maxKeptHeaderChars;
  const fitting = Object.entries(headers).filter(([name, value]) => (room -= name.length + value.length) >= 0);
  return Object.fromEntries(fitting);
}
