import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';

const page = `<!doctype html><html lang="en"><title>Elsewhere</title><main>
<h1>Elsewhere</h1><img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==">
<script>document.title = 'Executed'</script></main></html>`;

describe('the browser of the tests', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let elsewhere: Server;
  let url: string;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    elsewhere = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': "default-src 'self'" });
      response.end(page);
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
    elsewhere?.closeAllConnections();
    elsewhere?.close();
  });

  it('shows the pages of the service without a complaint', async () => {
    const watched = await browser.open();
    await watched.page.goto(`${app.url}/docs`);
    await watched.page.getByRole('heading', { name: /Switchboard/ }).waitFor();
    watched.expectNoProblems();
    await watched.close();
  });

  it('keeps to the rules of origins and policies, and tells of exceptions, dialogs and obstacles', async () => {
    const watched = await browser.open();
    await watched.page.goto(url);
    expect(await watched.page.title()).to.equal('Elsewhere');
    await expectRefused(watched.expectAccessible(), /image-alt/);
    const read = await watched.page.evaluate((of) => fetch(of).then(String, String), `${app.url}/healthz`);
    expect(read).to.contain('Failed to fetch');
    await watched.page.evaluate(() => {
      setTimeout(() => {
        throw new Error('On purpose');
      });
      return new Promise((resolve) => setTimeout(resolve, 50));
    });
    await watched.page.evaluate('alert(1)');
    for (const problem of [
      /^console: /,
      /^violation: (script|img|connect)-src/,
      /^exception: .*On purpose/,
      /^dialog: 1/,
    ])
      expect(watched.problems.join('\n')).to.match(new RegExp(problem.source, 'm'));
    expect(() => watched.expectNoProblems()).to.throw();
    await watched.close();
  });
});

async function expectRefused(work: Promise<void>, reason: RegExp): Promise<void> {
  const error = await work.then(
    () => null,
    (refusal: Error) => refusal,
  );
  expect(JSON.stringify(error)).to.match(reason);
}
