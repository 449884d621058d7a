import { expect } from 'chai';
import { signV4 } from '../../src/objects/sign-v4.ts';

// The examples of Amazon's documentation of Signature Version 4.
const credentials = {
  region: 'us-east-1',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const host = 'examplebucket.s3.amazonaws.com';
const now = new Date('2013-05-24T00:00:00.000Z');

describe('the signature of requests to an object store', () => {
  it('is that of the documented example', () => {
    const unsigned = { method: 'GET', host, path: '/test.txt', headers: { range: 'bytes=0-9' }, body: null };
    const headers = signV4(unsigned, credentials, now);
    expect(headers['x-amz-date']).to.equal('20130524T000000Z');
    expect(headers['x-amz-content-sha256']).to.equal(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
    expect(headers['authorization']).to.equal(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
        'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
        'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    );
  });

  it('is another for another body, path, method, day, key and region', () => {
    const unsigned = { method: 'PUT', host, path: '/a', headers: {}, body: Buffer.from('x') };
    const sign = (change = {}, by = {}, at = now) =>
      signV4({ ...unsigned, ...change }, { ...credentials, ...by }, at)['authorization'];
    const all = [
      sign(),
      sign({ body: Buffer.from('y') }),
      sign({ path: '/b' }),
      sign({ method: 'GET' }),
      sign({ host: 'other' }),
      sign({}, { region: 'eu-central-1' }),
      sign({}, { secretAccessKey: 'other' }),
      sign({}, {}, new Date(now.getTime() + 1000)),
    ];
    expect(new Set(all).size).to.equal(all.length);
  });
});
