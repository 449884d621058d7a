import { expect } from 'chai';
import { encodeForm, readForm } from '../../src/runs/doors/form-body.ts';

const fileOf = (size: number) => ({ name: 'a "file"\r\n.txt', type: 'text/plain', bytes: Buffer.alloc(size, 'x') });

describe('forms that plugins send', () => {
  it('are read by every reader of multipart/form-data', async () => {
    const form = readForm({ chat: 42, text: 'Grüße\r\n--form', photo: { file: 1, name: 'p.txt' } });
    const { type, body } = await encodeForm(form, () => Promise.resolve(fileOf(3)));
    const read = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    expect([read.get('chat'), read.get('text')]).to.deep.equal(['42', 'Grüße\r\n--form']);
    const photo = read.get('photo') as File;
    expect([photo.name, photo.type, await photo.text()]).to.deep.equal(['p.txt', 'text/plain', 'xxx']);
  });

  it('have a bound for all their files together, and stop to read at it', async () => {
    const fields = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`file${index}`, { file: 1 }]));
    let read = 0;
    const file = fileOf(10 * 1024 * 1024);
    const reading = () => {
      read += 1;
      return Promise.resolve(file);
    };
    const error = await encodeForm(readForm(fields), reading).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'bad_request' });
    expect(read).to.equal(6);
  });
});
