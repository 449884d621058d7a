import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { startForeignPage, type ForeignPage } from '../support/foreign-page.ts';
import { freePort } from '../support/service.ts';
import { xssTexts } from '../support/xss.ts';

interface Inbox {
  id: number;
  identifier: string;
}

describe('the widget in a browser', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let shop: ForeignPage;
  let port: number;
  let faq: number;
  let open: WatchedPage[] = [];

  const settings = () => ({ config: { port, widgetSessionsPerMinute: 0 } });

  before(async function () {
    await browser.start(this);
    port = await freePort();
    app = await TestApp.start(settings());
    shop = await startForeignPage(app.url);
    faq = (await app.post('agent_bots', { name: 'FAQ', kind: 'plugin', plugin_id: 'faq' })).body.id;
  });

  after(async () => {
    await browser.close();
    shop?.close();
    await app?.stop();
  });

  afterEach(async () => {
    await Promise.all(open.map((watched) => watched.close()));
    open = [];
  });

  async function makeInbox(fields: object = {}, bot: number | null = null): Promise<Inbox> {
    const { body } = await app.post('inboxes', {
      name: 'The shop',
      channel_type: 'Channel::WebWidget',
      allowed_origins: [shop.origin],
      ...fields,
    });
    if (bot !== null) await app.post(`inboxes/${body.id}/set_agent_bot`, { agent_bot: bot });
    return body;
  }

  /** Opens the shop's page with the widget of the inbox. */
  async function visit(inbox: Pick<Inbox, 'identifier'>, options: Parameters<TestBrowser['open']>[0] = {}) {
    shop.show({ 'data-inbox': inbox.identifier, 'data-name': 'Vera' });
    const watched = await browser.open(options);
    open.push(watched);
    await watched.page.goto(shop.url);
    return watched;
  }

  const enter = (page: Page) => page.getByRole('button', { name: /^Open chat/ }).click();
  const bubble = (page: Page, text: string | RegExp) => page.locator('.bubble').filter({ hasText: text });
  async function say(page: Page, text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  }
  async function conversationIn({ id }: Inbox): Promise<number> {
    const { payload } = (await app.get(`conversations?inbox_id=${id}`)).body.data;
    expect(payload).to.have.lengthOf(1);
    return payload[0].id;
  }
  const write = (conversation: number, fields: object) =>
    app.post(`conversations/${conversation}/messages`, { content: 'Hm?', message_type: 'outgoing', ...fields });
  async function heard(inbox: Inbox): Promise<Record<string, unknown>[]> {
    const { payload } = (await app.get(`conversations/${await conversationIn(inbox)}/messages`)).body;
    return payload.filter(({ message_type: type }: { message_type: string }) => type === 'incoming');
  }

  it('answers on the page of another origin, by the keyboard alone, and goes on after a reload', async () => {
    const inbox = await makeInbox({}, faq);
    const watched = await visit(inbox);
    const { page } = watched;
    await page.getByRole('button', { name: 'Open chat' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'The shop' }).waitFor();
    await page.keyboard.type('What are your opening hours?');
    await page.keyboard.press('Enter');
    await bubble(page, 'What are your opening hours?').waitFor();
    const answer = page.locator('.message:not(.own) .bubble');
    await answer.first().waitFor();
    const said = await answer.first().textContent();
    expect(said).to.match(/\d/);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const isFocused = await page.getByRole('button', { name: 'Open chat' }).evaluate((button) => {
      return (button.getRootNode() as unknown as { activeElement: unknown }).activeElement === button;
    });
    expect(isFocused).to.equal(true);
    const kept = await page.evaluate(() =>
      Object.keys((globalThis as unknown as { localStorage: object }).localStorage),
    );
    expect(kept).to.deep.equal([`switchboard:${inbox.identifier}`]);
    await page.reload();
    await enter(page);
    await bubble(page, said ?? '').waitFor();
    expect(await heard(inbox)).to.have.lengthOf(1);
    expect((await app.get(`conversations/${await conversationIn(inbox)}`)).body.contact.name).to.equal('Vera');
    watched.expectNoProblems();
  });

  it('is accessible, in light and dark, wide and narrow', async () => {
    const inbox = await makeInbox();
    for (const [colorScheme, width] of [
      ['light', 1440],
      ['dark', 360],
    ] as const) {
      const watched = await visit(inbox, { colorScheme, viewport: { width, height: 720 } });
      await enter(watched.page);
      await say(watched.page, `Hello in ${colorScheme}, see https://example.com/a?b=c.`);
      await watched.page.locator('.own .bubble a').waitFor();
      await watched.page.getByText('Sending…').waitFor({ state: 'detached' });
      await watched.expectAccessible();
      const link = watched.page.locator('.own .bubble a');
      expect(await link.getAttribute('href')).to.equal('https://example.com/a?b=c');
      expect(await link.getAttribute('rel')).to.contain('noopener');
      watched.expectNoProblems();
    }
  });

  it('says kindly why there is no chat: on a page that may not show it, without its inbox, to a blocked contact', async () => {
    const sentence = async (inbox: Pick<Inbox, 'identifier'>) => {
      const { page } = await visit(inbox);
      await enter(page);
      const alert = page.getByRole('alert');
      await alert.waitFor();
      return alert.textContent();
    };
    expect(await sentence(await makeInbox({ allowed_origins: [] }))).to.match(/^This page may not show the chat/);
    expect(await sentence({ identifier: 'nobody-has-this' })).to.match(/^Inbox not found/);
    const inbox = await makeInbox();
    const { page } = await visit(inbox);
    await enter(page);
    await say(page, 'Hello');
    await app.eventually(async () => (await app.get(`conversations?inbox_id=${inbox.id}`)).body.data.payload[0]);
    const { contact } = (await app.get(`conversations/${await conversationIn(inbox)}`)).body;
    await app.patch(`contacts/${contact.id}`, { blocked: true });
    await say(page, 'Are you there?');
    await page.getByText(/Not sent: You cannot send messages here any more/).waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await bubble(page, 'Are you there?').waitFor({ state: 'detached' });
    expect(await heard(inbox)).to.have.lengthOf(1);
  });

  it('shows choices as buttons and a field for an e-mail address, and sends what was chosen', async () => {
    const inbox = await makeInbox();
    const watched = await visit(inbox);
    const { page } = watched;
    await enter(page);
    await say(page, 'Hello');
    const conversation = await app.eventually(async () => (await heard(inbox).catch(() => []))[0]);
    const id = conversation['conversation_id'] as number;
    const items = [
      { title: 'The basic plan', value: 'basic' },
      { title: 'The pro plan', value: 'pro' },
    ];
    await write(id, { content: 'Which plan?', content_type: 'input_select', content_attributes: { items } });
    const plan = (name: string) => page.getByRole('group', { name: 'Which plan?' }).getByRole('button', { name });
    await plan('The pro plan').click();
    await bubble(page, 'The pro plan').waitFor();
    await plan('The pro plan').and(page.locator('[aria-pressed=true]:disabled')).waitFor();
    await plan('The basic plan').and(page.locator('[aria-pressed=false]:disabled')).waitFor();
    // Who chose by the keyboard goes on by it.
    await page.getByRole('textbox', { name: 'Message' }).and(page.locator(':focus')).waitFor();
    await write(id, { content: 'Where can we reach you?', content_type: 'input_email' });
    await page.getByRole('textbox', { name: 'Your email address' }).fill('vera@example.com');
    await watched.expectAccessible();
    await page.getByRole('button', { name: 'Send address' }).click();
    await bubble(page, 'vera@example.com').waitFor();
    await app.eventually(async () => (await app.get(`conversations/${id}`)).body.contact.email === 'vera@example.com');
    const [, choice, email] = await heard(inbox);
    expect(choice?.['content']).to.equal('The pro plan');
    expect(choice?.['content_attributes']).to.deep.include({ submitted_values: [items[1]] });
    expect(email?.['content_attributes']).to.include({ submitted_email: 'vera@example.com' });
    watched.expectNoProblems();
  });

  it('shows cards: links open elsewhere, and a postback is chosen once, by the keyboard too', async () => {
    const inbox = await makeInbox();
    const watched = await visit(inbox);
    const { page } = watched;
    await enter(page);
    await say(page, 'What do you sell?');
    await page.getByText('Sending…').waitFor({ state: 'detached' });
    const id = await conversationIn(inbox);
    const order = (payload: string) => ({ type: 'postback', text: `Order ${payload}`, payload: `sku-${payload}` });
    const items = [
      {
        title: 'Lamp',
        description: 'Bright',
        media_url: 'https://shop.example/lamp.png',
        actions: [{ type: 'link', text: 'See it', uri: 'https://shop.example/lamp' }, order('lamp')],
      },
      { title: 'Chair', actions: [order('chair')] },
    ];
    const cards = { content_type: 'cards', content_attributes: { items } };
    await write(id, { content: 'Our lamps', ...cards });
    const list = (name: string) => page.getByRole('list', { name });
    const button = (name: string) => list('Our lamps').getByRole('button', { name });
    const link = list('Our lamps').getByRole('link', { name: 'See it' });
    expect(await link.getAttribute('href')).to.equal('https://shop.example/lamp');
    expect([await link.getAttribute('target'), await link.getAttribute('rel')]).to.deep.equal([
      '_blank',
      'noopener noreferrer nofollow',
    ]);
    // A picture of another origin would tell that origin who looks.
    expect(await list('Our lamps').getByRole('link', { name: 'View image: Lamp' }).count()).to.equal(1);
    expect(await list('Our lamps').locator('img').count()).to.equal(0);
    // A further word of the same side changes nothing.
    await write(id, { content: 'Prices include VAT.' });
    await bubble(page, 'Prices include VAT.').waitFor();
    await watched.expectAccessible();
    await button('Order lamp').focus();
    await page.keyboard.press('Tab');
    await button('Order chair').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await bubble(page, 'Order chair').waitFor();
    await button('Order chair').and(page.locator('[aria-pressed=true]:disabled')).waitFor();
    await button('Order lamp').and(page.locator('[aria-pressed=false]:disabled')).waitFor();
    const answer = (await heard(inbox)).at(-1);
    expect(answer).to.deep.include({ content: 'Order chair' });
    expect(answer?.['content_attributes']).to.deep.include({
      submitted_values: [{ title: 'Order chair', value: 'sku-chair' }],
    });
    await page.reload();
    await enter(page);
    await button('Order chair').and(page.locator('[aria-pressed=true]:disabled')).waitFor();
    // A message in place of a choice ends it.
    await write(id, { content: 'Our chairs', ...cards });
    await list('Our chairs').getByRole('button', { name: 'Order chair' }).and(page.locator(':enabled')).waitFor();
    await say(page, 'Neither, thank you');
    await list('Our chairs').locator('button:enabled').first().waitFor({ state: 'detached' });
    expect(await list('Our chairs').getByRole('button').count()).to.equal(2);
    await watched.expectAccessible();
    watched.expectNoProblems();
  });

  it('loses no message and sends none twice when answers are lost and the service restarts, and comes back by itself', async () => {
    const inbox = await makeInbox();
    const { page } = await visit(inbox);
    await enter(page);
    await say(page, 'First');
    await page.getByText('Sending…').waitFor({ state: 'detached' });
    // The service takes the message, and its answer is lost.
    await page.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      await page.unroute('**/messages');
      await route.abort();
    });
    await say(page, 'Second');
    await app.eventually(async () => (await heard(inbox)).length === 2);
    await app.app.stop();
    await say(page, 'Third');
    await page.getByText('You are offline.').waitFor();
    app = await TestApp.start({ ...settings(), databaseUrl: app.databaseUrl });
    await page.getByText('Sending…').waitFor({ state: 'detached' });
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
    expect((await heard(inbox)).map(({ content }) => content)).to.deep.equal(['First', 'Second', 'Third']);
    await write(await conversationIn(inbox), { content: 'Welcome back' });
    await bubble(page, 'Welcome back').waitFor();
    expect(await page.locator('.bubble').allTextContents()).to.deep.equal(['First', 'Second', 'Third', 'Welcome back']);
  });

  it('shows what anybody wrote as text', async () => {
    const inbox = await makeInbox({ name: xssTexts[1] });
    const watched = await visit(inbox);
    const { page } = watched;
    await enter(page);
    await say(page, xssTexts[0] ?? '');
    await page.getByText('Sending…').waitFor({ state: 'detached' });
    const id = await conversationIn(inbox);
    await app.query('UPDATE seats SET name = $1 WHERE account_id = 1', [xssTexts[2]]);
    for (const text of xssTexts) await write(id, { content: text });
    const items = xssTexts.map((text) => ({ title: text, value: text }));
    await write(id, { content: xssTexts[3], content_type: 'input_select', content_attributes: { items } });
    const group = page.getByRole('group');
    await group.getByRole('button').last().click();
    await group.locator('button:enabled').waitFor({ state: 'detached' });
    await page.getByText('Sending…').waitFor({ state: 'detached' });
    const cards = xssTexts.slice(0, 10).map((text) => ({
      title: text,
      description: text,
      actions: [
        { type: 'postback', text, payload: text },
        { type: 'link', text, uri: `https://example.com/?${encodeURIComponent(text)}` },
      ],
    }));
    await write(id, { content: xssTexts[3], content_type: 'cards', content_attributes: { items: cards } });
    await page.getByRole('listitem').last().waitFor();
    for (const link of await page.getByRole('listitem').getByRole('link').all())
      expect(await link.getAttribute('href')).to.match(/^https:\/\/example\.com\//);
    const shown = await page.locator('.bubble').allTextContents();
    expect(shown).to.include.members([...xssTexts]);
    const addresses = await page.locator('.bubble a').evaluateAll((links) => links.map((link) => String(link)));
    for (const address of addresses) expect(address).to.match(/^https?:/);
    watched.expectNoProblems();
  });
});
