import type { NewCannedResponse } from '../../../domain/canned-responses.ts';
import { isLonger, textOf, type Foreign } from '../values.ts';

const [mostShortCode, mostContent] = [255, 20_000];

/** A canned response that can be stored; `problem` says what is not as it was. */
export interface ReadResponse {
  response: NewCannedResponse;
  problem: string | null;
}

/** Reads a canned response; null without a short code or a content. */
export function toCannedResponse(given: Foreign): ReadResponse | null {
  const shortCode = textOf(given['short_code'], mostShortCode);
  const content = textOf(given['content'], mostContent);
  if (shortCode === null || content === null) return null;
  const problems = [
    ...(isLonger(given['short_code'], mostShortCode)
      ? [`its short code was cut after ${mostShortCode} characters`]
      : []),
    ...(isLonger(given['content'], mostContent) ? [`its content was cut after ${mostContent} characters`] : []),
  ];
  return { response: { shortCode, content }, problem: problems.length === 0 ? null : problems.join('; ') };
}
