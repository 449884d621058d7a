import { expect } from 'chai';
import { findWidening } from '../../src/packages/manifest/grants.ts';
import { parseManifest } from '../../src/packages/manifest/manifest.ts';

const manifest = { id: 'shop', name: 'Shop', version: '1.0.0', apiVersion: '1', main: 'bot.js', events: [] };
const parse = (hooks: object, permissions: object = { hooks: true }) =>
  parseManifest({ ...manifest, hooks, permissions });
const refusal = (hooks: object, permissions?: object): string => {
  try {
    parse(hooks, permissions);
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('hooks of a manifest', () => {
  it('have the places where senders put their ids, and their answers, by default', () => {
    const [{ hooks }] = parse({
      git: { verify: 'github', secret: 'S' },
      meta: { verify: 'meta', secret: 'S', verify_token: 'T', key: ['/a', '/b'] },
      open: { verify: 'none', id: 'body', max_bytes: 10, answer: 200 },
    }).parts;
    expect(hooks['git']).to.include({ maxBytes: 1_048_576, answer: 202 });
    expect(hooks['git']!.id).to.deep.equal(['header:x-github-delivery']);
    expect(hooks['meta']).to.deep.include({ answer: 200, id: ['body'], key: ['/a', '/b'], verifyToken: 'T' });
    expect(hooks['open']).to.deep.include({ answer: 200, id: ['body'], maxBytes: 10, secret: null });
  });

  it('are refused where they contradict themselves', () => {
    expect(refusal({ a: { verify: 'github' } })).to.include('needs a `secret`');
    expect(refusal({ a: { verify: 'none', secret: 'S' } })).to.include('`verify` is `none`');
    expect(refusal({ a: { verify: 'github', secret: 'S', verify_token: 'T' } })).to.include('for `meta` only');
    expect(refusal({ a: { verify: 'sns' } })).to.include('needs a `secret`');
    expect(refusal({ a: { verify: 'none' } }, {})).to.include('"hooks": true');
    expect(refusal({}, {})).to.include('nothing calls the bot');
    expect(refusal({ a: { verify: 'none', max_bytes: 41_943_041 } })).to.include('must be at most 41943040');
    expect(refusal({ A: { verify: 'none' } })).to.include('lowercase');
    expect(refusal({ a: { verify: 'none', files: '/a/*/b' } })).to.include('`hooks.a.files` is for channels');
    expect(refusal({ a: { verify: 'none', files: 'a' } })).to.include('JSON pointer');
    const mailing = { hooks: true, mail: 'SMTP_URL' };
    expect(refusal({ a: { verify: 'none' } }, mailing)).to.include('`permissions.mail` is for channels');
    const network = { hosts: ['x.example'] };
    const twice = { hooks: true, network, secrets: [{ name: 'S', hosts: ['x.example'] }] };
    expect(refusal({ a: { verify: 'github', secret: 'S' } }, twice)).to.include('declare it in one place');
  });

  it('need approval, which says where senders are not checked', () => {
    const signed = parse({ a: { verify: 'github', secret: 'S' } });
    const open = parse({ a: { verify: 'none' } });
    expect(findWidening(signed, signed)).to.deep.equal([]);
    expect(findWidening(signed, open)).to.have.length(1);
    expect(findWidening(signed, open)[0]).to.include('without checking who sends them');
    expect(findWidening(null, signed).join()).to.include('checked by github');
  });
});
