import { expect } from 'chai';
import * as fc from 'fast-check';
import { systemRandom } from '../../src/lib/ports.ts';
import { createSecretBox, newWebhookSecret, SecretUnreadableError } from '../../src/lib/secrets/secret-box.ts';

describe('secret box', () => {
  const box = createSecretBox('a key for tests', systemRandom);

  it('opens what it sealed, any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(box.open(box.seal(text))).to.equal(text);
      }),
    );
  });

  it('seals the same text differently each time, and never shows it', () => {
    const [first, second] = [box.seal('whsec_visible'), box.seal('whsec_visible')];
    expect(first)
      .to.match(/^v1\.[A-Za-z0-9_-]+$/)
      .and.not.to.equal(second);
    expect(Buffer.from(first.slice(3), 'base64url').toString('latin1')).not.to.contain('visible');
  });

  it('opens in another process with the same key', () => {
    expect(createSecretBox('a key for tests', systemRandom).open(box.seal('text'))).to.equal('text');
  });

  it('says what to look at when the key is another, without the value', () => {
    const sealed = box.seal('whsec_hidden');
    const other = createSecretBox('another key', systemRandom);
    expect(() => other.open(sealed))
      .to.throw(SecretUnreadableError, 'SECRET_KEY')
      .with.property('message')
      .that.does.not.contain('hidden')
      .and.does.not.contain(sealed);
  });

  it('refuses a change of any byte', () => {
    const bytes = Buffer.from(box.seal('text').slice(3), 'base64url');
    for (const index of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[index]! ^= 1;
      expect(() => box.open(`v1.${changed.toString('base64url')}`), `byte ${index}`).to.throw(SecretUnreadableError);
    }
  });

  it('refuses other versions, short and foreign texts', () => {
    const sealed = box.seal('text');
    for (const text of [
      '',
      'v1.',
      'v1.AAAA',
      sealed.replace('v1.', 'v2.'),
      sealed.slice(0, -4),
      'plain',
      `${sealed}!`,
    ]) {
      expect(() => box.open(text), text).to.throw(SecretUnreadableError);
    }
  });

  it('needs a key', () => {
    expect(() => createSecretBox('', systemRandom)).to.throw('SECRET_KEY');
  });

  it('makes webhook secrets of 32 random bytes', () => {
    const secret = newWebhookSecret(systemRandom);
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secret).not.to.equal(newWebhookSecret(systemRandom));
  });
});
