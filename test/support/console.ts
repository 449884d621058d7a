import type { TestApp } from './app.ts';
import type { TestBrowser, WatchedPage } from './browser.ts';

/** Widths at which every page of the console must work. */
export const widths = [360, 1440];

/** A page of the console, signed in by the token as people do it: at the page for signing in. */
export async function signedIn(
  browser: TestBrowser,
  app: TestApp,
  token: string,
  path = '/console',
): Promise<WatchedPage> {
  const watched = await browser.open();
  const { page } = watched;
  await page.goto(app.url + path);
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return watched;
}
