import { gzipSync } from 'node:zlib';
import type { Answer, TestApp } from './app.ts';
import { adminToken } from './app.ts';

/** An entry of an archive; headers may be forged. */
export interface Entry {
  name: string;
  /** The header's name in bytes, in place of the text. */
  nameBytes?: Buffer;
  content?: string | Buffer;
  type?: string;
  linkname?: string;
  prefix?: string;
  /** What the header says instead of the content's size. */
  size?: string;
  checksum?: string;
}

/** A tar archive, gzipped unless told otherwise. */
export function archiveOf(entries: readonly Entry[], { end = Buffer.alloc(1024), gzip = true } = {}): Buffer {
  const tar = Buffer.concat([...entries.flatMap(blocksOf), end]);
  return gzip ? gzipSync(tar) : tar;
}

function blocksOf({
  name,
  nameBytes,
  content = '',
  type = '0',
  linkname = '',
  prefix = '',
  size,
  checksum,
}: Entry): Buffer[] {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(512);
  header.set((nameBytes ?? Buffer.from(name)).subarray(0, 100));
  header.write('0000644\0', 100);
  header.write(size ?? `${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write(type, 156);
  header.write(linkname, 157, 100);
  header.write('ustar\u000000', 257);
  header.write(prefix, 345, 155);
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  header.write(checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
}

/** An extended header, for the entry behind it. */
export function extendedHeader(records: Record<string, string>, type = 'x'): Entry {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest) + 1;
    while (String(length).length + Buffer.byteLength(rest) !== length) length += 1;
    return `${length}${rest}`;
  });
  return { name: 'PaxHeader', type, content: lines.join('') };
}

const goodCode = `export default { on: { message_created(ctx) { ctx.reply('hello') } } };`;

/** The files of a plugin, below `package/` as npm packs them. */
export function pluginFiles(
  manifest: Record<string, unknown> & { id: string },
  code = goodCode,
  others: Record<string, string> = {},
): Entry[] {
  const whole = {
    name: manifest.id,
    version: '1.0.0',
    apiVersion: '1',
    main: 'bot.js',
    events: ['message_created'],
    permissions: { conversation: ['reply'] },
    ...manifest,
  };
  const files = {
    'package.json': JSON.stringify({ name: manifest.id, version: whole.version, scripts: { install: 'exit 1' } }),
    'plugin.json': JSON.stringify(whole),
    'bot.js': code,
    ...others,
  };
  return Object.entries(files).map(([name, content]) => ({ name: `package/${name}`, content }));
}

/** An archive of a plugin. */
export function pluginArchive(...plugin: Parameters<typeof pluginFiles>): Buffer {
  return archiveOf(pluginFiles(...plugin));
}

/** The form in which an archive is uploaded. */
export function formOf(archive: Buffer): FormData {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(archive)]), 'plugin.tgz');
  return form;
}

/** Uploads an archive. */
export async function upload(
  app: TestApp,
  archive: Buffer,
  headers: Record<string, string> = { api_access_token: adminToken },
): Promise<Answer> {
  const response = await fetch(`${app.url}/platform/api/v1/plugins`, {
    method: 'POST',
    body: formOf(archive),
    headers,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
