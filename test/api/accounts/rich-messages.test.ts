import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';

const link = { type: 'link', text: 'Open', uri: 'https://shop.example/lamp?colour=red#top' };
const card = {
  title: 'Lamp',
  description: 'Bright',
  media_url: 'https://shop.example/lamp.png',
  actions: [link, { type: 'postback', text: 'Order', payload: 'lamp' }],
};
const many = <Value>(count: number, value: (index: number) => Value) =>
  Array.from({ length: count }, (_, at) => value(at));
const choice = (title: unknown, value: unknown) => ({ title, value });

describe('choices and cards in messages', () => {
  let app: TestApp;
  let path: string;

  before(async () => {
    app = await TestApp.start({ engine: false });
    const contact = (await app.post('contacts', { name: 'Carla' })).body.id;
    path = `conversations/${(await app.post('conversations', { inbox_id: 1, contact_id: contact })).body.id}/messages`;
  });
  after(() => app.stop());

  const send = (content_type: string, items: unknown) =>
    app.post(path, { content: 'Look', message_type: 'outgoing', content_type, content_attributes: { items } });

  it('reach clients and webhooks in the shape of the field', async () => {
    await app.events();
    const cards = await send('cards', [card, { title: 'Bare' }]);
    expect(cards.status).to.equal(201);
    const told = { content_type: 'cards', content_attributes: { items: [card, { title: 'Bare' }] } };
    expect(cards.body).to.deep.include({ content: 'Look', ...told });
    expect((await app.get(path)).body.payload.at(-1)).to.deep.include(told);
    const event = (await app.events()).find(({ name }) => name === 'message_created');
    expect(event?.account_payload).to.deep.include(told);
    const items = [choice('Yes', 'yes'), choice('Seven', 7)];
    expect((await send('input_select', items)).body).to.deep.include({ content_attributes: { items } });
    const note = { content: 'Look', message_type: 'outgoing', private: true, content_type: 'cards' };
    expect((await app.post(path, { ...note, content_attributes: { items: [card] } })).status).to.equal(201);
  });

  it('are refused where they are too many, too long, or lead elsewhere than to the web', async () => {
    const action = (fields: object) => [{ title: 'Lamp', actions: [fields] }];
    const to = (uri: unknown) => action({ type: 'link', text: 'Open', uri });
    const refused: [string, unknown][] = [
      ['input_select', []],
      ['input_select', 'all'],
      ['input_select', many(51, (at) => choice(`Item ${at}`, `${at}`))],
      ['input_select', many(10_000, (at) => choice('x', `${at}`))],
      ['input_select', [choice('x'.repeat(256), 'x')]],
      ['input_select', [choice('x', 'x'.repeat(256))]],
      ['input_select', [choice(' ', 'x')]],
      ['input_select', [choice('x', { deep: true })]],
      ['input_select', [null]],
      ['cards', undefined],
      ['cards', []],
      ['cards', many(11, () => card)],
      ['cards', many(10_000, () => ({ title: 'x' }))],
      ['cards', [{ description: 'No title' }]],
      ['cards', [{ title: 'Lamp', media_url: 'javascript:alert(1)' }]],
      ['cards', [{ title: 'Lamp', media_url: 'data:image/png;base64,AAAA' }]],
      ['cards', [{ title: 'Lamp', actions: many(6, () => link) }]],
      ['cards', to('javascript:alert(1)')],
      ['cards', to(' javascript:alert(1)')],
      ['cards', to('data:text/html,<script>')],
      ['cards', to('ftp://shop.example/')],
      ['cards', to('//shop.example/')],
      ['cards', to('https://')],
      ['cards', to('https://bank.example@shop.example/')],
      ['cards', to('https://shop.example/a b')],
      ['cards', to(`https://shop.example/${'a'.repeat(2048)}`)],
      ['cards', to(undefined)],
      ['cards', action({ type: 'postback', text: 'Order' })],
      ['cards', action({ type: 'postback', text: 'Order', payload: '' })],
      ['cards', action({ type: 'call', text: 'Call', uri: 'https://shop.example' })],
    ];
    await app.events();
    for (const [type, items] of refused) {
      const { status, body } = await send(type, items);
      expect([status, body.code], JSON.stringify([type, items]).slice(0, 200)).to.deep.equal([
        422,
        'validation_failed',
      ]);
    }
    expect(
      (await app.post(path, { content: 'Look', message_type: 'outgoing', content_type: 'cards' })).status,
    ).to.equal(422);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('stay such when they are edited', async () => {
    const { id } = (await send('cards', [card])).body;
    const edit = (content_attributes: object) => app.patch(`${path}/${id}`, { content_attributes });
    const away = { ...card, actions: [{ ...link, uri: 'javascript:alert(1)' }] };
    expect((await edit({ items: [away] })).status).to.equal(422);
    expect((await edit({ note: 'kept' })).status).to.equal(200);
    expect((await edit({ items: [{ title: 'Sold out' }] })).body.content_attributes.items).to.deep.equal([
      { title: 'Sold out' },
    ]);
  });
});
