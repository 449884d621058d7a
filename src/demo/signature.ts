import { timingSafeEqual } from 'node:crypto';
import { signatureHeaders } from '../deliveries/core/sign.ts';

/** A webhook that may have signed a post. */
export interface Signer {
  /** `whsec_…`; two while they rotate. */
  readonly secrets: readonly string[];
}

/** The signed parts of a post, and its header `webhook-signature`. */
interface SignedPost {
  id: string;
  timestamp: string;
  body: Buffer;
  signature: string;
}

const toleranceMs = 5 * 60_000;

/** The signer of a post by Standard Webhooks; with null the reason why there is none, in a sentence. */
export function signatureProblem<Candidate extends Signer>(
  post: SignedPost,
  signers: readonly Candidate[],
  now: Date,
): { signer: Candidate; problem: null } | { signer: null; problem: string } {
  const { id, timestamp, body, signature } = post;
  if (signature === '') return unsigned('It has no header webhook-signature');
  if (id === '' || id.includes('.') || !/^\d{1,12}$/.test(timestamp))
    return unsigned('Its headers webhook-id and webhook-timestamp are not as Standard Webhooks says');
  const at = new Date(Number(timestamp) * 1000);
  if (Math.abs(now.getTime() - at.getTime()) > toleranceMs)
    return unsigned('Its webhook-timestamp is more than five minutes away');
  if (signers.length === 0) return unsigned('No webhook of this service has this URL');
  const given = signature.split(' ');
  const signer = signers.find(({ secrets }) =>
    secrets.some((secret) => {
      const expected = signatureHeaders({ id, timestamp: at, body, secrets: [secret] })['webhook-signature'];
      return given.some((one) => areEqual(one, expected));
    }),
  );
  return signer ? { signer, problem: null } : unsigned('No webhook with this URL has signed it');
}

function unsigned(problem: string): { signer: null; problem: string } {
  return { signer: null, problem };
}

function areEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
