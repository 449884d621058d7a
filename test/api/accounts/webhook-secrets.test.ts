import { expect } from 'chai';
import { verify, type Received } from '../../support/receiver.ts';
import { Sending, type Body } from '../../support/sending.ts';

const day = 24 * 3_600;

describe('the signing secrets of a webhook', () => {
  const sending = Sending.use();

  const rotate = async (webhook: Body, body: object = {}, status = 200): Promise<Body> =>
    sending.made(`webhooks/${webhook.id}/rotate_secret`, body, status);
  const listed = async (webhook: Body): Promise<Body[]> =>
    (await sending.app.get(`webhooks/${webhook.id}/secrets`)).body.payload;

  /** The next request that the receiver gets. */
  async function nextRequest(): Promise<Received> {
    const before = sending.receiver.received.length;
    await sending.made('contacts', { name: 'Ada' });
    return (await sending.receiver.waitFor(before + 1)).at(-1)!;
  }

  function expectSigners(request: Received, { by, not }: { by: string[]; not: string[] }): void {
    for (const secret of by) verify(secret, request);
    for (const secret of not) expect(() => verify(secret, request)).to.throw();
  }

  it('overlap, each until its own end', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const second = await rotate(webhook, { overlap_seconds: 2 * day });
    const third = await rotate(webhook);
    const secrets = [third.secret, second.secret, webhook.secret];
    expectSigners(await nextRequest(), { by: secrets, not: [] });
    const found = await listed(webhook);
    expect(found.map(({ last_four: four }) => four)).to.deep.equal(secrets.map((secret) => secret.slice(-4)));
    expect(found[0].ends_at).to.equal(null);
    const now = Date.now() / 1000;
    expect(found[1].ends_at).to.be.closeTo(now + day, 60);
    expect(found[2].ends_at).to.be.closeTo(now + 2 * day, 60);
    expect(JSON.stringify(found)).not.to.include('whsec_');

    await sending.app.query(
      `UPDATE webhooks SET older_secrets = jsonb_set(older_secrets, '{0,endsAt}', to_jsonb(now())) WHERE id = $1`,
      [webhook.id],
    );
    expectSigners(await nextRequest(), { by: [third.secret, webhook.secret], not: [second.secret] });
    expect((await listed(webhook)).map(({ id }) => id)).to.deep.equal([found[0].id, found[2].id]);
  });

  it('without an overlap the old one signs nothing more', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const { secret } = await rotate(webhook, { overlap_seconds: 0 });
    expectSigners(await nextRequest(), { by: [secret], not: [webhook.secret] });
    expect(await listed(webhook)).to.have.length(1);
  });

  it('a leaked one is ended at once, but never the newest', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const { secret } = await rotate(webhook);
    const [newest, leaked] = await listed(webhook);
    const at = `webhooks/${webhook.id}/secrets`;
    const refused = await sending.app.delete(`${at}/${newest.id}`);
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'newest_secret']);
    expect((await sending.app.delete(`${at}/${leaked.id}`)).status).to.equal(200);
    expectSigners(await nextRequest(), { by: [secret], not: [webhook.secret] });
    expect((await sending.app.delete(`${at}/${leaked.id}`)).status).to.equal(404);
    const other = await sending.webhookFor('contact_created');
    expect((await sending.app.delete(`webhooks/${other.id}/secrets/${newest.id}`)).status).to.equal(404);
  });

  it('are ten at most; what is too many is refused and changes nothing', async () => {
    const webhook = await sending.webhookFor('contact_created');
    for (let count = 2; count <= 10; count++) await rotate(webhook);
    const before = await listed(webhook);
    expect(before).to.have.length(10);
    expect((await rotate(webhook, {}, 409)).code).to.equal('too_many_secrets');
    expect(await listed(webhook)).to.deep.equal(before);
    expect(String((await nextRequest()).headers['webhook-signature']).split(' ')).to.have.length(10);
    await rotate(webhook, { overlap_seconds: 0 });
    await rotate(webhook, { overlap_seconds: 0 });
    expect(await listed(webhook)).to.have.length(10);
    expect((await rotate(webhook, { overlap_seconds: -1 }, 422)).code).to.be.a('string');
  });
});
