import { timingSafeEqual } from 'node:crypto';
import type { SecretBox } from './secrets/secret-box.ts';

/** Header of deliveries; a call of the REST API that repeats it says which event it reacts to. */
export const traceHeader = 'switchboard-trace';

/** An event that another system may react to. */
interface Traced {
  accountId: number;
  eventId: number;
  /** See Actor. */
  depth: number;
}

const macBytes = 18;
const tracedForm = /^([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,3})\.([\w-]{24})$/;

/** Returns the header's value for a delivery of the event. */
export function traceOf(box: Pick<SecretBox, 'mac'>, { accountId, eventId, depth }: Traced): string {
  const words = [accountId, eventId, depth].map((number) => number.toString(36)).join('.');
  return `${words}.${macOf(box, words).toString('base64url')}`;
}

/** Reads the depth of the event in a value of the header; null for one that was not made here, or in another account. */
export function depthIn(box: Pick<SecretBox, 'mac'>, accountId: number, value: string): number | null {
  const [, account = '', event = '', depth = '', mac = ''] = tracedForm.exec(value) ?? [];
  if (mac === '' || Number.parseInt(account, 36) !== accountId) return null;
  const isOurs = timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(box, `${account}.${event}.${depth}`));
  return isOurs ? Number.parseInt(depth, 36) : null;
}

// The words set it apart from the links to files.
function macOf(box: Pick<SecretBox, 'mac'>, words: string): Buffer {
  return box.mac(`trace ${words}`).subarray(0, macBytes);
}
