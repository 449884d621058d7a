import axe from 'axe-core';
import { expect } from 'chai';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { noBrowser, unpackChromium } from './chromium.ts';
import { closeAtEnd } from './leaks.ts';

const startMs = 120_000;
/** A slow machine takes its time; what never comes fails the test all the same. */
const waitMs = Number(process.env['BROWSER_WAIT_MS'] ?? 60_000);
/** How many times slower pages compute than the machine lets them. */
const slowdown = Number(process.env['BROWSER_SLOWDOWN'] ?? 1);

let shared: Promise<Browser> | null = null;

/** Closes the browser of this process, if a test has started it. */
async function closeBrowser(): Promise<void> {
  const closing = shared;
  shared = null;
  await (await closing?.catch(() => null))?.close();
}

closeAtEnd(closeBrowser);

async function findBrowser(): Promise<Browser> {
  // A browser that crashed fails the tests of one file, not those of the next ones.
  if (shared && !(await shared.catch(() => null))?.isConnected()) shared = null;
  return (shared ??= launch());
}

/**
 * Pages of the tests of a file, in a real browser that all files of the process share; what a test leaves open is closed by
 * `after(() => browser.close())`. It keeps the rules of the web (origins, content security policies, cookies): the
 * arguments that `@sparticuz/chromium` recommends would switch them off. Where no browser can run, the tests are skipped.
 */
export class TestBrowser {
  readonly #contexts = new Set<BrowserContext>();

  /** Starts the browser, in `before`, or skips the tests and says why. */
  async start(test: Mocha.Context): Promise<void> {
    if (noBrowser !== null) {
      process.stderr.write(`  Skipped without a browser: ${noBrowser}\n`);
      test.skip();
    }
    test.timeout(startMs);
    await findBrowser();
  }

  /** Opens an empty page with cookies and storage of its own. */
  async open(options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const browser = await findBrowser();
    // Without a locale a machine that has none lends the browser a language that no standard knows.
    const usual = { viewport: { width: 1440, height: 900 }, locale: 'en-US' };
    const context = await browser.newContext({ ...usual, ...options });
    this.#contexts.add(context);
    context.once('close', () => this.#contexts.delete(context));
    return WatchedPage.watch(await context.newPage());
  }

  async close(): Promise<void> {
    await Promise.all([...this.#contexts].map((context) => context.close()));
  }
}

async function launch(): Promise<Browser> {
  const { executablePath, env } = await unpackChromium();
  // Without its sandbox it runs as any user, root included; it is shown our own pages alone.
  return chromium.launch({ executablePath, env, chromiumSandbox: false, args: ['--font-render-hinting=none'] });
}

/** A page of which everything is kept that went wrong in it. */
export class WatchedPage {
  readonly page: Page;
  /** Errors on the console, exceptions, violations of content security policies, and dialogs, which only foreign code opens. */
  readonly problems: string[] = [];

  private constructor(page: Page) {
    this.page = page;
  }

  static async watch(page: Page): Promise<WatchedPage> {
    const watched = new WatchedPage(page);
    const { problems } = watched;
    page.setDefaultTimeout(waitMs);
    if (slowdown > 1) {
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    }
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(`console: ${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => problems.push(`exception: ${error.stack ?? error.message}`));
    page.on('dialog', (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.exposeFunction('tellViolation', (text: string) => problems.push(`violation: ${text}`));
    await page.addInitScript(reportViolations);
    return watched;
  }

  /** Fails when something went wrong in the page, other than what the pattern allows. */
  expectNoProblems(allowed?: RegExp): void {
    expect(this.problems.filter((problem) => !allowed?.test(problem)).join('\n')).to.equal('');
  }

  /** Fails when axe finds something serious or critical in the page. */
  async expectAccessible(): Promise<void> {
    await this.page.evaluate(axe.source);
    const found = await this.page.evaluate(findObstacles);
    expect(found).to.deep.equal([]);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

// The two below run in the page.

function reportViolations(): void {
  const { addEventListener, tellViolation } = globalThis as unknown as {
    addEventListener: (name: string, listen: (event: Record<string, string>) => void) => void;
    tellViolation: (text: string) => void;
  };
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
    tellViolation(`${violatedDirective} ${blockedURI} ${sample}`),
  );
}

async function findObstacles(): Promise<string[]> {
  const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
  const { violations } = await inPage.run({ resultTypes: ['violations'] });
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help} (${String(target)})`));
}
