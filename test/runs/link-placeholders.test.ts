import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { placeholderOf } from '../../src/lib/file-links.ts';
import { digestDoors } from '../../src/runs/doors/digests.ts';
import { readRequest } from '../../src/runs/doors/fetch-request.ts';
import { LinkPlaceholders } from '../../src/runs/doors/link-placeholders.ts';
import { Redaction } from '../../src/runs/doors/redaction.ts';

describe('links to files in what channels send', () => {
  let made = 0;
  const urlOf = ({ accountId, id, name }: { accountId: number; id: number; name: string }): string => {
    made += 1;
    return `https://support.example/files/${accountId}.${id}.signed-${made}/${encodeURIComponent(name)}`;
  };
  const linksOf = (...ids: number[]) =>
    new LinkPlaceholders({ accountId: 7, files: ids.map((id) => ({ id, name: 'a b.txt' })) }, { urlOf });
  const link = /^https:\/\/support\.example\/files\/7\.5\.signed-\d+\/a%20b\.txt$/;

  it('fills in the files of the message alone, in headers, bodies and texts of forms', () => {
    const links = linksOf(5);
    const url = 'https://api.example/[file 5]';
    const headers = { 'x-file': '[file 5]' };
    const { body, ...filled } = links.fillRequest(
      readRequest({ url, method: 'POST', headers, body: { url: placeholderOf(5), other: '[file 6]' } }),
    );
    expect(filled).to.deep.include({ url });
    expect(filled.headers['x-file']).to.match(link);
    expect(JSON.parse(body!)).to.deep.equal({ url: filled.headers['x-file'], other: '[file 6]' });
    const form = { photo: '[file 5]', document: { file: 5 } };
    expect(links.fillRequest(readRequest({ url, method: 'POST', form })).form).to.deep.equal({
      photo: filled.headers['x-file'],
      document: { file: 5, name: null },
    });
  });

  it('escapes a link where its placeholder is escaped', () => {
    const links = linksOf(5);
    const fields = new URLSearchParams({ MediaUrl: placeholderOf(5), Body: 'x' });
    expect(new URLSearchParams(links.fill(String(fields))).get('MediaUrl')).to.match(link);
    expect(decodeURIComponent(links.fill(encodeURIComponent(placeholderOf(5))))).to.match(link);
  });

  it('signs a text with the links with which it is sent', async () => {
    const links = linksOf(5);
    const text = JSON.stringify({ url: placeholderOf(5) });
    const holder = { permissions: { secrets: [{ name: 'KEY', hosts: [] }] }, secret: () => 'key' };
    const call = { algorithm: 'sha256', key: { $secret: 'KEY' }, data: text, encoding: 'hex' };
    const signed = await digestDoors(holder, links)['crypto.hmac']!(call, {} as never, new AbortController().signal);
    expect(signed).to.equal(createHmac('sha256', 'key').update(links.fill(text)).digest('hex'));
  });

  it('hides links, and parts that admit, from what hosts answer', () => {
    const links = linksOf(5);
    const redaction = new Redaction();
    links.hide(redaction);
    const filled = links.fill(placeholderOf(5));
    const [, , , , signed = ''] = filled.split('/');
    expect(redaction.apply({ filled, signed, escaped: encodeURIComponent(filled) })).to.deep.equal({
      filled: '[file 5]',
      signed: '[file 5]',
      escaped: '[file 5]',
    });
  });

  it('refuses a text with too many, and leaves texts alone where no links are made', () => {
    expect(() => linksOf(5).fill('[file 5]'.repeat(101))).to.throw('A text may have 100 links to files');
    const without = new LinkPlaceholders({ accountId: 7, files: [{ id: 5, name: 'a' }] }, undefined);
    expect(without.fill('[file 5]')).to.equal('[file 5]');
  });
});
