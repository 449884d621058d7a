import { expect } from 'chai';
import type { OutboundHttpOptions, OutboundResult } from '../../src/outbound/http.ts';
import { failureOf } from '../../src/outbound/result.ts';
import { listenHttp, outbound, scriptedResolver } from './listeners.ts';

const message = { headers: {}, body: '{}' };

function withCode(text: string, code: string): Error {
  return Object.assign(new Error(text), { code });
}

describe('what a call without a status says', () => {
  const errors: Readonly<Record<string, [error: Error, code: string, detail: string]>> = {
    'an error with a code': [withCode('x', 'ECONNREFUSED'), 'connect', 'ECONNREFUSED'],
    'an error without one': [new RangeError('Out of memory'), 'connect', 'RangeError: Out of memory'],
    'an error that another has caused': [
      new Error('fetch failed', { cause: withCode('x', 'ECONNRESET') }),
      'reset',
      'ECONNRESET',
    ],
    'errors of several addresses': [
      new AggregateError([new Error('x'), withCode('x', 'EHOSTUNREACH')]),
      'connect',
      'EHOSTUNREACH',
    ],
    'errors of several addresses, none with a code': [
      new AggregateError([new Error('x')], 'All failed'),
      'connect',
      'AggregateError: All failed',
    ],
  };
  for (const [what, [error, errorCode, errorDetail]] of Object.entries(errors)) {
    it(`of ${what}`, () => expect(failureOf(error)).to.deep.equal({ errorCode, errorDetail }));
  }

  it('of an error with a long text is short', () => {
    expect(failureOf(new Error('x'.repeat(10_000))).errorDetail).to.have.lengthOf(200);
  });

  async function call(
    url: string,
    options: Partial<OutboundHttpOptions>,
    signal?: AbortSignal,
  ): Promise<[OutboundResult['errorCode'], OutboundResult['errorDetail']]> {
    const http = outbound({ timeoutMs: 1_000, ...options });
    const { errorCode, errorDetail } = await http.post(url, { ...message, ...(signal ? { signal } : {}) });
    await http.close();
    return [errorCode, errorDetail];
  }

  it('is never empty: of deadlines, ends, refused addresses and URLs', async () => {
    const mute = await listenHttp(() => {});
    const url = `http://127.0.0.1:${mute.port}/`;
    const hanging = { resolver: { resolve: () => new Promise<never>(() => {}) } };
    expect(await call(url, {})).to.deep.equal(['timeout', 'no answer within 1000 ms']);
    expect(await call('http://slow.test/', hanging)).to.deep.equal(['timeout', 'no connection within 1000 ms']);
    expect(await call(url, {}, AbortSignal.abort())).to.deep.equal(['aborted', 'ended by the caller']);
    expect(await call('http://10.0.0.1/', {})).to.deep.equal(['blocked_address', 'not a public address']);
    const inside = { resolver: scriptedResolver(['10.0.0.1']) };
    expect(await call('http://inside.test/', inside)).to.deep.equal(['blocked_address', 'not a public address']);
    const [code, detail] = await call('ftp://example.com/', {});
    expect([code, detail?.length]).to.satisfy(([said, length]: [string, number]) => said === 'bad_url' && length > 0);
    await mute.close();
    const closed = outbound();
    await closed.close();
    expect(await closed.post(url, message)).to.include({ errorCode: 'aborted', errorDetail: 'the service stops' });
  });
});
