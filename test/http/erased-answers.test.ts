import { expect } from 'chai';
import { routes } from '../../src/api/index.ts';
import { traitsOf } from '../../src/http/route/traits.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { createSecretBox } from '../../src/lib/secrets/secret-box.ts';
import { fillPath, nameOf, operations, readName } from '../support/operations.ts';
import { World, type PrincipalName, type Reply } from '../support/world.ts';

/** Answers that hold words of customers: the list of a later release is longer, never shorter. */
const holdingWords = [
  'POST contacts',
  'POST contacts/:id/notes',
  'POST actions/contact_merge',
  'POST conversations',
  'POST conversations/:id/toggle_status',
  'POST conversations/:id/agent_bot',
  'POST conversations/:id/update_last_seen',
  'POST conversations/:conversation_id/messages',
  '/public/api/v1/inboxes/:identifier/messages',
  'POST /public/api/v1/inboxes/:identifier/contacts/:contact_identifier/conversations',
];

describe('stored answers about what is erased', function () {
  let world: World;
  let keys = 0;
  const stored = new Map<string, Reply>();

  before(async () => {
    world = await World.build();
  });

  after(() => world.app.stop());

  const secretBox = () => createSecretBox('a key that only the tests use, long enough', systemRandom);

  function callerOf(name: string): PrincipalName {
    if (name.includes('/platform/')) return 'platform';
    return name.includes('/public/') ? 'guest' : 'administrator';
  }

  /** The bodies that are stored, opened. */
  async function storedBodies(): Promise<string[]> {
    const rows = await world.app.query<{ body: string }>("SELECT body FROM idempotency_keys WHERE body <> ''");
    return rows.map(({ body }) => secretBox().open(body));
  }

  async function wordsLeft(): Promise<string[]> {
    const words = new RegExp(`${world.home.maker.mark} (contact|message|note|client|visitor)`);
    return (await storedBodies()).filter((body) => words.test(body));
  }

  it('are stored by every keyed operation', async () => {
    const keyed = routes.filter((route) => traitsOf(route, routes).keyed).map(nameOf);
    for (const [name, prepare] of Object.entries(operations)) {
      const { method, path, operation } = readName(name);
      if (!keyed.includes(operation) || /reset_access_token/.test(path)) continue;
      const request = await prepare(world.home, world);
      keys += 1;
      const key = `erased ${keys}`;
      const filled = fillPath(path, world.home.maker.accountId, request);
      const headers = { 'idempotency-key': key };
      const reply = await world.send(callerOf(name), { method, path: filled, body: request.body ?? {}, headers });
      expect(reply.status, `${name}: ${reply.text}`).to.be.below(300);
      stored.set(name, reply);
    }
    const bodies = await storedBodies();
    for (const part of holdingWords) {
      const [, reply] = [...stored].find(([name]) => name.includes(part)) ?? [];
      expect(reply, part).not.to.equal(undefined);
      expect(bodies, part).to.include(reply?.text);
    }
  });

  it('are erased with the message, the conversation or the contact, and a repeat does nothing', async () => {
    const { maker, inbox } = world.home;
    const post = async (path: string, body: object) => {
      keys += 1;
      const headers = { 'idempotency-key': `repeat ${keys}` };
      const send = () =>
        world.send('administrator', { method: 'POST', path: `/api/v1/accounts/1/${path}`, body, headers });
      const { body: made } = await send();
      const repeat = async () => {
        const { status, body: told } = await send();
        return told.code ?? status;
      };
      return { id: Number(made.id), repeat };
    };
    const conversation = await post('conversations', { inbox_id: inbox, contact_id: await maker.contact() });
    const message = await post(`conversations/${conversation.id}/messages`, {
      content: 'Hi',
      message_type: 'incoming',
    });
    const other = await post(`conversations/${conversation.id}/messages`, { content: 'Ho', message_type: 'incoming' });
    const seen = await post(`conversations/${conversation.id}/update_last_seen`, {});
    const [merged, base] = [await post('contacts', { name: 'Merged' }), await post('contacts', { name: 'Base' })];
    await maker.call('POST', 'actions/contact_merge', { base_contact_id: base.id, mergee_contact_id: merged.id });
    const answers = () => Promise.all([conversation, message, other, seen, merged, base].map(({ repeat }) => repeat()));
    const gone = 'answer_not_stored';
    expect(await answers()).to.deep.equal([201, 201, 201, 200, 201, 201]);
    await maker.call('DELETE', `conversations/${conversation.id}/messages/${other.id}`);
    expect(await answers()).to.deep.equal([201, 201, gone, gone, 201, 201]);
    await maker.call('DELETE', `conversations/${conversation.id}`);
    expect(await answers()).to.deep.equal([gone, gone, gone, gone, 201, 201]);
    await world.app.events();
    await maker.call('DELETE', `contacts/${base.id}`);
    expect(await answers()).to.deep.equal([gone, gone, gone, gone, gone, gone]);
    expect(await world.app.eventNames()).to.deep.equal(['contact_deleted']);
  });

  it('are erased with the last contact of their account', async () => {
    const { app } = world;
    const contacts = await app.query<{ id: number }>('SELECT id FROM contacts WHERE account_id = $1', [1]);
    for (const { id } of contacts) {
      const path = `/api/v1/accounts/1/contacts/${id}`;
      expect((await world.send('administrator', { method: 'DELETE', path })).status).to.equal(200);
    }
    expect(await wordsLeft()).to.deep.equal([]);
  });

  it('are erased with their account', async () => {
    const { maker } = world.other;
    const path = `/api/v1/accounts/${maker.accountId}/contacts`;
    const asked = {
      method: 'POST',
      path,
      body: { name: `${world.home.maker.mark} contact` },
      headers: { 'idempotency-key': 'x' },
    };
    expect((await world.send('otherAdmin', asked)).status).to.equal(201);
    expect(await wordsLeft()).to.have.lengthOf(1);
    const gone = await world.send('platform', {
      method: 'DELETE',
      path: `/platform/api/v1/accounts/${maker.accountId}`,
    });
    expect(gone.status).to.equal(200);
    expect(await wordsLeft()).to.deep.equal([]);
  });
});
