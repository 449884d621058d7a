import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { PluginError } from '../../src/packages/plugin-error.ts';
import { createArchiveReader } from '../../src/packages/archive/archive.ts';
import { unpack } from '../../src/packages/archive/unpack.ts';
import { archiveOf, extendedHeader, pluginArchive, pluginFiles, type Entry } from '../support/archives.ts';

const bounds = { unpackedBytes: 100_000, entries: 20 };
const good: Entry = { name: 'package/a.txt', content: 'a' };

function problemsOf(archive: Buffer): string {
  const unpacked = unpack(archive, bounds);
  return 'problems' in unpacked ? unpacked.problems.join('\n') : 'accepted';
}

/** Archives that are refused, and part of the reason. */
const refused: [string, Buffer, string][] = [
  ['no archive at all', Buffer.from('plugin'), 'not gzipped'],
  ['nothing', Buffer.alloc(0), 'not gzipped'],
  ['half of an archive', archiveOf([good]).subarray(0, 60), 'not gzipped, or damaged'],
  ['gzipped noise', gzipSync(randomBytes(4096)), 'damaged'],
  ['an archive without an end', archiveOf([good], { end: Buffer.alloc(0) }), 'no end'],
  ['no entries', archiveOf([]), 'one top folder'],
  [
    'something behind the end',
    archiveOf([good], { end: Buffer.concat([Buffer.alloc(1024), Buffer.from('x')]) }),
    'behind the end',
  ],
  ['a path with ..', archiveOf([{ name: 'package/../../etc/passwd' }]), 'not a plain relative path'],
  ['only ..', archiveOf([{ name: '../x' }]), 'not a plain relative path'],
  ['an absolute path', archiveOf([{ name: '/etc/passwd' }]), 'not a plain relative path'],
  ['an absolute path by its prefix', archiveOf([{ name: 'passwd', prefix: '/etc' }]), 'not a plain relative path'],
  ['a path with .', archiveOf([{ name: './package/a' }]), 'not a plain relative path'],
  ['an empty part', archiveOf([{ name: 'package//a' }]), 'not a plain relative path'],
  ['backslashes', archiveOf([{ name: 'package\\..\\a' }]), 'not a plain relative path'],
  ['a drive', archiveOf([{ name: 'C:/a' }]), 'not a plain relative path'],
  ['a control character', archiveOf([{ name: 'package/a\u001b[2J' }]), 'not a plain relative path'],
  ['a name that is not UTF-8', badName(), 'not UTF-8'],
  ['a path with .. by an extended header', archiveOf([extendedHeader({ path: '../a' }), good]), 'not a plain'],
  ['a size by an extended header', archiveOf([extendedHeader({ size: '1' }), good]), 'sets "size"'],
  ['a link by an extended header', archiveOf([extendedHeader({ linkpath: '/etc' }), good]), 'sets "linkpath"'],
  ['a path for all', archiveOf([extendedHeader({ path: 'package/x' }, 'g'), good]), 'sets "path"'],
  ['a broken extended header', archiveOf([{ name: 'x', type: 'x', content: '99 path=a\n' }, good]), 'is damaged'],
  [
    'a symbolic link',
    archiveOf([good, { name: 'package/l', type: '2', linkname: '/etc/passwd' }]),
    'is a symbolic link',
  ],
  ['a hard link', archiveOf([good, { name: 'package/l', type: '1', linkname: 'package/a.txt' }]), 'is a hard link'],
  ['a character device', archiveOf([{ name: 'package/d', type: '3' }]), 'is a device'],
  ['a block device', archiveOf([{ name: 'package/d', type: '4' }]), 'is a device'],
  ['a FIFO', archiveOf([{ name: 'package/f', type: '6' }]), 'is a FIFO'],
  ['a sparse file', archiveOf([{ name: 'package/s', type: 'S' }]), 'of an unknown kind'],
  ['a long name of GNU', archiveOf([{ name: '././@LongLink', type: 'L', content: 'x' }, good]), 'of an unknown kind'],
  ['a file twice', archiveOf([good, good]), 'more than once'],
  ['a file twice, in another case', archiveOf([good, { name: 'package/A.TXT' }]), 'more than once'],
  [
    'a file twice, composed otherwise',
    archiveOf([{ name: 'package/\u00e9' }, { name: 'package/e\u0301' }]),
    'more than once',
  ],
  ['a file that is a folder', archiveOf([good, { name: 'package/a.txt/b' }]), 'is a file and a folder'],
  ['two top folders', archiveOf([good, { name: 'other/b' }]), 'one top folder'],
  ['a file on top', archiveOf([{ name: 'plugin.json' }]), 'one top folder'],
  [
    'too many entries',
    archiveOf(Array.from({ length: 21 }, (_, index) => ({ name: `package/${index}` }))),
    'more than 20 entries',
  ],
  [
    'files that are too large',
    archiveOf([{ name: 'package/a', content: Buffer.alloc(100_001) }]),
    'more than 100000 bytes',
  ],
  ['a bomb', gzipSync(Buffer.alloc(200_000_000)), 'more than 100000 bytes'],
  ['a size beyond the end', archiveOf([{ ...good, size: '00000010000\0' }]), 'cut off'],
  ['a size in another base', archiveOf([{ ...good, size: '\u0080\0\0\0\0\0\0\0\0\0\0\u0001' }]), 'not octal'],
  ['a negative size', archiveOf([{ ...good, size: '-0000000001\0' }]), 'not octal'],
  ['a wrong checksum', archiveOf([{ ...good, checksum: '000001\0 ' }]), 'a checksum is wrong'],
  [
    'native code',
    archiveOf([{ name: 'package/a.txt', content: Buffer.from('7f454c4602010100', 'hex') }]),
    'machine code',
  ],
  ['a native module', archiveOf([{ name: 'package/build/x.node', content: 'x' }]), 'machine code or compiled'],
  ['compiled code of V8', archiveOf([{ name: 'package/bot.cache', content: 'x' }]), 'machine code or compiled'],
];

function badName(): Buffer {
  const tar = archiveOf([good], { gzip: false });
  tar[8] = 0xff;
  const sum = tar.subarray(0, 512).reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return gzipSync(tar);
}

describe('packages: archives', function () {
  this.timeout(60_000);

  for (const [title, archive, reason] of refused)
    it(`refuses ${title}`, () => expect(problemsOf(archive)).to.contain(reason));

  it('names every problem at once', () => {
    const told = problemsOf(archiveOf([{ name: '/a' }, { name: 'package/l', type: '2' }, good, good]));
    expect(told.split('\n')).to.have.lengthOf(4);
  });

  it('takes files and folders, long paths and the headers of other programs', () => {
    const path = `package/${'long/'.repeat(30)}file.ts`;
    const entries = [
      extendedHeader({ comment: 'abc' }, 'g'),
      { name: 'package/', type: '5' },
      good,
      extendedHeader({ path, mtime: '1.5' }),
      { name: 'package/cut-off', content: 'x' },
      { name: 'b.txt', prefix: 'package/lib', content: 'b' },
      { name: 'package/old.txt', type: '\0', content: 'old' },
    ];
    const unpacked = unpack(archiveOf(entries), bounds);
    expect(
      'files' in unpacked && [...unpacked.files].map(([name, content]) => [name, content.toString()]),
    ).to.deep.equal([
      ['a.txt', 'a'],
      [path.slice('package/'.length), 'x'],
      ['lib/b.txt', 'b'],
      ['old.txt', 'old'],
    ]);
  });

  it('survives random damage', () => {
    const tar = archiveOf(pluginFiles({ id: 'damaged' }), { gzip: false });
    for (let round = 0; round < 300; round += 1) {
      const damaged = Buffer.from(tar);
      for (const byte of randomBytes(3)) damaged[(round * 37 + byte * 11) % damaged.length] = byte;
      const unpacked = unpack(gzipSync(damaged), bounds);
      if ('files' in unpacked) for (const name of unpacked.files.keys()) expect(name).not.to.contain('..');
    }
  });

  describe('are read in a process of their own:', () => {
    const warnings: object[] = [];
    const read = createArchiveReader({
      bounds,
      trustedKeys: [],
      signatures: 'off',
      log: { warn: (fields) => void warnings.push(fields) },
    });

    async function refusalOf(archive: Buffer): Promise<string> {
      try {
        await read(archive);
      } catch (error) {
        expect(error).to.be.instanceOf(PluginError);
        return (error as PluginError).problems.join('\n');
      }
      return 'accepted';
    }

    it('a plugin, with imports of its own files', async () => {
      const code = `import { text } from './lib/text.ts'; import { defineBot } from 'switchboard/bot';
        export default defineBot({ on: { message_created(ctx) { ctx.reply(text) } } });`;
      const others = { 'lib/text.ts': `export const text: string = 'from below';` };
      const { manifest, bundle, filesHash } = await read(pluginArchive({ id: 'imports' }, code, others));
      expect(manifest.id).to.equal('imports');
      expect(bundle.code).to.contain('from below');
      const again = await read(archiveOf(pluginFiles({ id: 'imports' }, code, others).toReversed()));
      expect([again.filesHash, again.bundle.hash]).to.deep.equal([filesHash, bundle.hash]);
      const changed = await read(pluginArchive({ id: 'imports' }, code, { ...others, 'README.md': '' }));
      expect(changed.filesHash).not.to.equal(filesHash);
      expect(changed.bundle.hash).to.equal(bundle.hash);
    });

    it('what is no plugin is refused, with every problem', async () => {
      expect(await refusalOf(archiveOf([good]))).to.contain('There is no file "plugin.json"');
      const deeper = pluginFiles({ id: 'deeper' }).map((entry) => ({ ...entry, name: `package/${entry.name}` }));
      expect(await refusalOf(archiveOf(deeper))).to.contain('There is no file "plugin.json"');
      const wrong = { id: 'Wrong', version: 'one', permissions: { conversation: ['fly'] } };
      const told = await refusalOf(pluginArchive(wrong));
      for (const word of ['`id`', '`version`', 'conversation[0]']) expect(told).to.contain(word);
      expect(await refusalOf(pluginArchive({ id: 'breaks' }, 'export default {'))).to.contain('bot.js:1');
      expect(await refusalOf(pluginArchive({ id: 'imports' }, `import '../../etc/x.js'`))).to.contain(
        'outside the package',
      );
      expect(await refusalOf(pluginArchive({ id: 'imports' }, `import 'fs'`))).to.contain('part of Node.js');
      expect(await refusalOf(pluginArchive({ id: 'throws' }, 'throw new Error("at once")'))).to.contain(
        'does not load (load_failed)',
      );
      expect(
        await refusalOf(
          pluginArchive({ id: 'config', config: { type: 'object', properties: { a: { type: 'text' } } } }),
        ),
      ).to.contain('config');
      expect(await refusalOf(pluginArchive({ id: 'main', main: '../x.js' }))).to.contain('outside the package');
    });

    it('two at once, then in turn, and not more than 22 together', async () => {
      const archives = Array.from({ length: 23 }, (_, index) =>
        index < 4 ? pluginArchive({ id: `busy-${index}` }) : Buffer.from('x'),
      );
      const all = await Promise.allSettled(archives.map(read));
      expect(all.slice(0, 4).map(({ status }) => status)).to.deep.equal(Array(4).fill('fulfilled'));
      const refusals = all.slice(4).map((one) => (one as PromiseRejectedResult).reason as { status?: number });
      expect(refusals.map(({ status }) => status)).to.deep.equal([...Array(18).fill(undefined), 503]);
      expect(warnings).to.deep.equal([]);
    });
  });
});
