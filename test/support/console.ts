import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { TestApp } from './app.ts';
import type { TestBrowser, WatchedPage } from './browser.ts';
import { ownPage } from './sign-in.ts';

/** Widths at which every page of the console must work. */
export const widths = [360, 1440];

/** Opens a page of the console with the cookie of somebody who has signed in by the token. */
export async function signedIn(
  browser: TestBrowser,
  app: TestApp,
  token: string,
  path = '/console',
): Promise<WatchedPage> {
  const watched = await browser.open();
  const { page } = watched;
  const proof = { headers: ownPage, data: { access_token: token } };
  const answer = await page.context().request.post(`${app.url}/sign_in`, proof);
  expect(answer.status(), await answer.text()).to.equal(201);
  await page.goto(app.url + path);
  await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
  return watched;
}

/** Waits until nothing of the page is being loaded for the first time. */
export async function loaded(page: Page): Promise<void> {
  const waiting = page.locator('[aria-label=Loading]');
  while ((await waiting.count()) > 0) await waiting.first().waitFor({ state: 'detached' });
}

/** Fails unless the page, as it is now, is accessible and fits at all widths; ends with the widest. */
export async function expectAtAllWidths(watched: WatchedPage): Promise<void> {
  const { page } = watched;
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await watched.expectAccessible();
    expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
    // The page begins on the first screen, below its navigation.
    expect(await page.evaluate('document.querySelector("h1").getBoundingClientRect().top + scrollY')).to.be.below(250);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), page.url()).to.be.at.most(0);
  }
}
