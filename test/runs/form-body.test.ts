import { expect } from 'chai';
import { encodeForm, findFiles, readForm, type StoredFormFile } from '../../src/runs/doors/form-body.ts';

const fileOf = (size: number): StoredFormFile => ({
  name: 'a "file"\r\n.txt',
  type: 'text/plain',
  size,
  read: () => Promise.resolve(Buffer.alloc(size, 'x')),
});

describe('forms that plugins send', () => {
  it('are read by every reader of multipart/form-data', async () => {
    const form = readForm({ chat: 42, text: 'Grüße\r\n--form', photo: { file: 1, name: 'p.txt' } });
    const { files } = await findFiles(form, () => Promise.resolve(fileOf(3)));
    const { type, body } = await encodeForm(form, files);
    const read = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    expect([read.get('chat'), read.get('text')]).to.deep.equal(['42', 'Grüße\r\n--form']);
    const photo = read.get('photo') as File;
    expect([photo.name, photo.type, await photo.text()]).to.deep.equal(['p.txt', 'text/plain', 'xxx']);
  });

  it('have a bound for all their files together, beyond which none is read', async () => {
    const fields = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`file${index}`, { file: 1 }]));
    let found = 0;
    const unread = { ...fileOf(10 * 1024 * 1024), read: () => Promise.reject(new Error('read')) };
    const error = await findFiles(readForm(fields), () => {
      found += 1;
      return Promise.resolve(unread);
    }).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'bad_request' });
    expect(found).to.equal(6);
  });
});
