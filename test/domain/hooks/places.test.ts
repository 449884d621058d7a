import { expect } from 'chai';
import { readJson } from '../../../src/domain/hooks/places.ts';

const mega = 1024 * 1024;

describe('a body of a hook as JSON', () => {
  it('is read with a file of megabytes in it', () => {
    const Content = 'A'.repeat(30 * mega);
    expect(readJson(Buffer.from(JSON.stringify({ Attachments: [{ Name: 'a.pdf', Content }] })))).to.deep.equal({
      Attachments: [{ Name: 'a.pdf', Content }],
    });
  });

  it('is not read where it is large and of many values, which would hold up everybody', () => {
    expect(readJson(Buffer.from(`[${'1,'.repeat(10 * mega)}1]`))).to.equal(undefined);
    expect(readJson(Buffer.from(`[${'1,'.repeat(1000)}1]`))).to.have.lengthOf(1001);
  });
});
