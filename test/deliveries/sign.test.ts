import { expect } from 'chai';
import * as fc from 'fast-check';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { signatureHeaders } from '../../src/deliveries/core/sign.ts';
import { systemClock, systemRandom } from '../../src/lib/ports.ts';
import { newWebhookSecret } from '../../src/lib/secrets/secret-box.ts';

const [first, second, stranger] = [0, 1, 2].map(() => newWebhookSecret(systemRandom)) as [string, string, string];
const body = '{"event":"message_created","content":"Grüße 😀 \\u0000"}';
const id = `msg_${systemRandom.uuid()}`;

function verify(secret: string, text: string | Buffer, headers: Record<string, string>): unknown {
  return new Webhook(secret).verify(text, headers, { jsonParse: false });
}

describe('webhook signatures', () => {
  // Signatures are good for five minutes; from the reading of this file to its turn the suite may take longer.
  let timestamp: Date;

  before(() => {
    timestamp = systemClock.now();
  });

  it('verify with the Standard Webhooks library', () => {
    const headers = signatureHeaders({ id, timestamp, body, secrets: [first] });
    expect(() => verify(first, body, { ...headers })).not.to.throw();
    expect(headers).to.deep.equal({
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(timestamp.getTime() / 1_000)),
      'webhook-signature': new Webhook(first).sign(id, timestamp, body),
    });
  });

  it('verify with the old and with the new secret while one rotates', () => {
    const headers = { ...signatureHeaders({ id, timestamp, body, secrets: [first, second] }) };
    expect(headers['webhook-signature']).to.match(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    expect(() => verify(first, body, headers)).not.to.throw();
    expect(() => verify(second, body, headers)).not.to.throw();
    expect(() => verify(stranger, body, headers)).to.throw(WebhookVerificationError);
  });

  it('verify for any text and for the same bytes as a buffer', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const headers = { ...signatureHeaders({ id, timestamp, body: text, secrets: [first] }) };
        expect(() => verify(first, text, headers)).not.to.throw();
        expect(signatureHeaders({ id, timestamp, body: Buffer.from(text), secrets: [first] })).to.deep.equal(headers);
      }),
    );
  });

  it('do not verify when id, timestamp or body are changed', () => {
    const headers = { ...signatureHeaders({ id, timestamp, body, secrets: [first] }) };
    const later = String(Number(headers['webhook-timestamp']) + 1);
    expect(() => verify(first, `${body} `, headers)).to.throw(WebhookVerificationError);
    expect(() => verify(first, body, { ...headers, 'webhook-id': `${id}x` })).to.throw(WebhookVerificationError);
    expect(() => verify(first, body, { ...headers, 'webhook-timestamp': later })).to.throw(WebhookVerificationError);
  });

  it('are refused without a secret, and for an id with a dot', () => {
    expect(() => signatureHeaders({ id, timestamp, body, secrets: [] })).to.throw('secret');
    expect(() => signatureHeaders({ id: 'a.b', timestamp, body, secrets: [first] })).to.throw('dot');
  });
});
