import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { maxCarriageReturns, maxPartHeaderBytes, maxParts } from '../../src/http/route/body/form-parts.ts';
import { adminToken, TestApp, type Answer } from '../support/app.ts';
import { computingMs } from '../support/cpu.ts';

/** How long one form may hold up all others. */
const allowedMs = 200;
const boundary = 'a-boundary';
const type = `multipart/form-data; boundary=${boundary}`;

function part(name: string, text: string | Buffer, headers = ''): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n${headers}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(text), Buffer.from('\r\n')]);
}

function form(...parts: Buffer[]): Buffer<ArrayBuffer> {
  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
}

const incoming = part('message_type', 'incoming');

describe('a message that is sent as a multipart form', () => {
  let app: TestApp;
  let path: string;
  before(async () => {
    app = await TestApp.start({ engine: false });
    const inboxId = (await app.get('inboxes')).body.payload[0].id;
    const { id: contactId } = (await app.post('contacts', { name: 'Ada' })).body;
    const { id } = (await app.post('conversations', { inbox_id: inboxId, contact_id: contactId })).body;
    path = `/api/v1/accounts/1/conversations/${id}/messages`;
  });
  after(() => app.stop());

  async function send(
    body: Buffer<ArrayBuffer> | FormData,
    headers: Record<string, string> = { 'content-type': type },
    at = path,
  ): Promise<Answer> {
    const request = { method: 'POST', body, headers: { api_access_token: adminToken, ...headers } };
    const response = await fetch(app.url + at, request);
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  async function expectRefused(
    body: Buffer<ArrayBuffer>,
    [status, text]: [number, string],
    headers?: Record<string, string>,
  ): Promise<void> {
    await app.events();
    const answer = await send(body, headers);
    expect(answer.status, answer.body.error).to.equal(status);
    expect(answer.body.error).to.include(text);
    expect(await app.eventNames()).to.deep.equal([]);
  }

  it('is the message that the same JSON makes', async () => {
    const attributes = { items: [{ title: 'Yes', value: 'ä\ud83d\ude00' }], at: 1.5 };
    const fields = { content: 'Grüße\r\n--a\r\nfrom 東京 ', message_type: 'outgoing', content_type: 'input_select' };
    const body = new FormData();
    for (const [name, text] of Object.entries(fields)) body.set(name, text);
    body.set('private', 'true');
    body.set('source_id', '17');
    body.set('content_attributes', JSON.stringify(attributes));
    const json = { ...fields, private: true, source_id: '17', content_attributes: attributes };
    const [asForm, asJson] = [await send(body, {}), await app.post(path, json)];
    expect(asForm.status).to.equal(201);
    const { id: _form, ...one } = asForm.body;
    const { id: _json, ...other } = asJson.body;
    expect({ ...one, created_at: 0 }).to.deep.equal({ ...other, created_at: 0 });
    expect(one.content).to.equal(fields.content);
  });

  it('takes the least there is, text types of parts, and `private` said as false', async () => {
    const plain = 'Content-Type: text/plain; charset=UTF-8\r\n';
    const json = 'Content-Type: application/json\r\n';
    const answer = await send(
      form(part('content', 'Hi', plain), incoming, part('private', 'false'), part('content_attributes', '{}', json)),
    );
    expect(answer.status, answer.body.error).to.equal(201);
    expect(answer.body).to.include({ content: 'Hi', message_type: 'incoming', private: false });
  });

  it('under an Idempotency-Key is sent once, and is the same request as its JSON', async () => {
    const headers = { 'content-type': type, 'idempotency-key': 'a form' };
    const body = form(part('content', 'Once'), incoming);
    const [first, second] = [await send(body, headers), await send(body, headers)];
    const json = await app.post(path, { content: 'Once', message_type: 'incoming' }, { 'idempotency-key': 'a form' });
    expect([first.status, second.status, json.status]).to.deep.equal([201, 201, 201]);
    expect([second.body, json.body]).to.deep.equal([first.body, first.body]);
    expect(second.headers.get('idempotency-replayed')).to.equal('true');
    expect((await send(form(part('content', 'Twice'), incoming), headers)).status).to.equal(422);
  });

  describe('is refused as its JSON would be:', () => {
    const cases: [string, Buffer<ArrayBuffer>, unknown][] = [
      ['without what is required', form(part('content', 'x')), { content: 'x' }],
      ['with a blank text', form(part('content', ' '), incoming), { content: ' ', message_type: 'incoming' }],
      [
        'with an unknown value',
        form(part('content', 'x'), part('message_type', 'odd')),
        { content: 'x', message_type: 'odd' },
      ],
      [
        'with another type',
        form(part('content', 'x'), incoming, part('private', '1')),
        { content: 'x', message_type: 'incoming', private: 1 },
      ],
      ['with NUL', form(part('content', 'a\0b'), incoming), { content: 'a\0b', message_type: 'incoming' }],
      [
        'with __proto__',
        form(part('content', 'x'), incoming, part('__proto__', '{}')),
        '{"content":"x","message_type":"incoming","__proto__":{}}',
      ],
      [
        'with half a pair in JSON text',
        form(part('content', 'x'), incoming, part('content_attributes', '{"a":"\\ud800"}')),
        '{"content":"x","message_type":"incoming","content_attributes":{"a":"\\ud800"}}',
      ],
      [
        'with __proto__ in JSON text',
        form(part('content', 'x'), incoming, part('content_attributes', '{"__proto__":{"a":1}}')),
        '{"content":"x","message_type":"incoming","content_attributes":{"__proto__":{"a":1}}}',
      ],
      [
        'with a number that JSON text cannot keep',
        form(part('content', 'x'), incoming, part('content_attributes', '{"id":12345678901234567}')),
        '{"content":"x","message_type":"incoming","content_attributes":{"id":12345678901234567}}',
      ],
      [
        'with what is nested too deep',
        form(part('content', 'x'), incoming, part('content_attributes', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`)),
        `{"content":"x","message_type":"incoming","content_attributes":{"a":${'['.repeat(40)}${']'.repeat(40)}}}`,
      ],
    ];
    for (const [title, body, json] of cases) {
      it(title, async () => {
        const [asForm, asJson] = [await send(body), await app.post(path, json)];
        expect([asForm.status, asJson.status]).to.deep.equal([422, 422]);
        const { request_id: _one, ...one } = asForm.body;
        const { request_id: _other, ...other } = asJson.body;
        expect(one).to.deep.equal(other);
      });
    }

    it('unknown fields are let pass or refused as in JSON', async () => {
      const known = { content: 'x', message_type: 'incoming' };
      const asJson = await app.post(path, { ...known, constructor: 'y', unknown: 'z' });
      const body = form(part('content', 'x'), incoming, part('constructor', 'y'), part('unknown', 'z'));
      expect((await send(body)).status).to.equal(asJson.status);
    });
  });

  describe('is refused with', () => {
    const many = Array.from({ length: maxParts + 1 }, (_, index) => part(`f${index}`, ''));
    const cases: Record<string, [Buffer<ArrayBuffer>, [number, string], string?]> = {
      'a file': [form(part('content"; filename="a.txt', 'x'), incoming), [422, '`content` is a file']],
      'a file whose name is encoded': [
        form(part(`content"; filename*=UTF-8''a.txt; x="`, 'x'), incoming),
        [422, '`content` is a file'],
      ],
      'an attachment': [
        form(
          part('content', 'x'),
          incoming,
          part('attachments[]"; filename="a.png', Buffer.from([137, 80, 255]), 'Content-Type: image/png\r\n'),
        ),
        [422, 'is not what its name says'],
      ],
      'a part of another type': [
        form(part('content', 'x', 'Content-Type: text/plain; charset=iso-8859-1\r\n'), incoming),
        [422, '`content` is a file'],
      ],
      'a field that is there twice': [
        form(part('content', 'x'), part('content', 'y'), incoming),
        [422, '`content` is given more than once'],
      ],
      'JSON text that is none': [
        form(part('content', 'x'), incoming, part('content_attributes', '{')),
        [422, '`content_attributes` must be JSON text'],
      ],
      'invalid UTF-8': [form(part('content', Buffer.from([0x61, 0xff])), incoming), [400, 'not valid UTF-8']],
      'half a surrogate pair': [
        form(part('content', Buffer.from([0xed, 0xa0, 0x80])), incoming),
        [400, 'not valid UTF-8'],
      ],
      'an invalid name': [form(part('\0content', 'x'), incoming), [422, 'NUL']],
      base64: [
        form(part('content', 'eA==', 'Content-Transfer-Encoding: base64\r\n'), incoming),
        [400, 'encoded as base64'],
      ],
      'an unknown encoding': [
        form(part('content', 'x', 'Content-Transfer-Encoding: quoted-printable\r\n'), incoming),
        [400, 'cannot be read'],
      ],
      'a part without a name': [form(Buffer.from(`--${boundary}\r\n\r\nx\r\n`), incoming), [400, 'form-data']],
      'an empty name': [form(part('', 'x'), incoming), [400, 'has no name']],
      'too many fields': [form(...many), [422, `more than ${maxParts} fields`]],
      'too long headers': [
        form(part('content', 'x', `X-Long: ${'x'.repeat(maxPartHeaderBytes)}\r\n`), incoming),
        [400, 'bytes of headers'],
      ],
      'headers that are none': [form(part('content', 'x', 'no header\r\n'), incoming), [400, 'cannot be read']],
      'a part in the headers of another': [
        form(
          part(
            'content',
            'x',
            `a\r\nb\r\n--${boundary}\r\nContent-Disposition: form-data; name="message_type"\r\n\r\nincoming\r\n`,
          ),
        ),
        [400, 'divided'],
      ],
      'too many line breaks': [
        form(part('content', '\r\n'.repeat(maxCarriageReturns)), incoming),
        [422, `more than ${maxCarriageReturns} line breaks`],
      ],
      'no boundary': [form(part('content', 'x'), incoming), [400, 'names no boundary'], 'multipart/form-data'],
      'an empty boundary': [
        form(part('content', 'x'), incoming),
        [400, 'names no boundary'],
        'multipart/form-data; boundary=""',
      ],
      'another boundary': [
        form(part('content', 'x'), incoming),
        [400, 'does not begin'],
        'multipart/form-data; boundary=other',
      ],
      'nothing in it': [Buffer.from(''), [400, 'does not begin']],
      'no parts': [form(), [400, 'does not begin']],
      'an end in the middle': [
        Buffer.concat([incoming, part('content', 'x')]),
        [400, 'ends without its closing boundary'],
      ],
      'an end right after a boundary': [
        Buffer.concat([part('content', 'x'), Buffer.from(`--${boundary}`)]),
        [400, 'closing boundary'],
      ],
      'something after its end': [
        Buffer.concat([form(part('content', 'x')), incoming]),
        [400, 'does not end with its closing boundary'],
      ],
    };
    for (const [title, [body, refusal, contentType = type]] of Object.entries(cases)) {
      it(title, () => expectRefused(body, refusal, { 'content-type': contentType }));
    }

    it('another media type, or an encoding, by the sentence that names both', async () => {
      for (const headers of [
        { 'content-type': 'application/x-www-form-urlencoded' },
        { 'content-type': 'multipart/mixed; boundary=a-boundary' },
        { 'content-type': `${type}; charset=utf-16` },
        { 'content-type': type, 'content-encoding': 'gzip' },
      ])
        await expectRefused(
          form(incoming),
          [415, 'must be sent as application/json or multipart/form-data in UTF-8'],
          headers,
        );
    });

    it('more bytes than a body may have', async () => {
      const body = form(part('content', 'x'.repeat(1024 * 1024)), incoming);
      await expectRefused(body, [413, 'larger than']);
    });

    it('every cut of it, and no failure of ours', async () => {
      const whole = form(part('content', 'x\r\n-'), incoming);
      for (let end = 0; end < whole.length - '\r\n'.length; end += 1) {
        const { status } = await send(whole.subarray(0, end));
        expect(status, `${end} bytes`).to.equal(400);
      }
    });
  });

  it('is read only where the contract says so', async () => {
    const answer = await send(form(part('name', 'Ada')), { 'content-type': type }, '/api/v1/accounts/1/contacts');
    expect(answer.status).to.equal(415);
    expect(answer.body.error).to.equal('The body must be sent as application/json in UTF-8');
  });

  it('of somebody who is not let in is not read, and no file is written for anybody', async () => {
    const written = () => readdirSync(tmpdir()).filter((name) => /^[a-z0-9]{25}$/.test(name));
    const before = written();
    const file = part('content"; filename="a.txt', 'x'.repeat(10_000), 'Content-Type: text/plain\r\n');
    const headers = { 'content-type': type, api_access_token: 'nobody' };
    expect((await send(form(file), headers)).status).to.equal(401);
    expect((await send(form(file))).status).to.equal(422);
    expect(written()).to.deep.equal(before);
  });

  describe('and takes as much as it can is answered in no time:', () => {
    const megabyte = 1024 * 1024 - 4096;
    const fill = (text: string) => text.repeat(megabyte / text.length);
    const hostile: Record<string, Buffer<ArrayBuffer>> = {
      'of tiny parts': Buffer.from(fill(`--${boundary}\r\n\r\n\r\n`)),
      'of parts without an end': form(Buffer.from(fill(`--${boundary}\r\n`))),
      'of one header': form(part('content', 'x', `X: ${fill('a')}\r\n`)),
      'of file names': form(part('content', 'x', `Content-Disposition: form-data; ${fill(' filename="')} x\r\n`)),
      'of names, as many as fit': form(
        ...Array.from({ length: maxParts }, () =>
          part('content', 'x', `Content-Disposition: form-data; ${' filename="'.repeat(80)} x\r\n`),
        ),
      ),
      'of line breaks': form(part('content', fill('\r\n')), incoming),
      'of as many line breaks as are let in': form(part('content', '\r'.repeat(maxCarriageReturns - 20)), incoming),
      'of what is nearly a boundary': form(
        part('content', `\r\n--${boundary.slice(1)}`.repeat(maxCarriageReturns - 20)),
        incoming,
      ),
      'of one text': form(part('content', fill('a')), incoming),
      'of JSON text': form(part('content', 'x'), incoming, part('content_attributes', `{"a":[${fill('1,')}1]}`)),
      'of numbers': form(part('content', fill('1234567890123456 ')), incoming),
    };
    for (const [title, body] of Object.entries(hostile)) {
      it(title, async () => {
        let status = 0;
        const took = await computingMs(async () => {
          ({ status } = await send(body));
        }, allowedMs);
        expect(took).to.be.at.most(allowedMs);
        expect(status).to.be.within(400, 422);
      });
    }
  });
});
