import { expect } from 'chai';

/** What a page of the service itself sends with every request. */
export const ownPage = { 'sec-fetch-site': 'same-origin' };

/** Headers of the pages of a person who has signed in at `url`, by an access token or a link. */
export async function signInAt(
  url: string,
  proof: { access_token: string } | { link: string },
): Promise<Record<string, string>> {
  const response = await fetch(`${url}/sign_in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ownPage },
    body: JSON.stringify(proof),
  });
  expect(response.status, await response.text()).to.equal(201);
  return { ...ownPage, cookie: cookieOf(response) };
}

/** The cookie that an answer sets, without its attributes. */
export function cookieOf(response: Response): string {
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}
