const blockBytes = 512;
const checksumAt = 148;
const nameBytes = 100;
const prefixBytes = 155;

/** The header of a file in a tar archive. Throws a RangeError for a name that is too long for one. */
export function headerOf(name: string, bytes: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const { prefix, rest } = split(name);
  header.write(rest, 0, nameBytes);
  header.write(prefix, 345, prefixBytes);
  header.write('0000644\u00000000000\u00000000000\0', 100);
  header.write(`${octal(bytes, 11)}\0${octal(0, 11)}\0`, 124);
  header.write(' '.repeat(8), checksumAt);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, checksumAt);
  return header;
}

/** The zeros behind a file of this size in a tar archive. */
export function paddingOf(bytes: number): Buffer {
  return Buffer.alloc((blockBytes - (bytes % blockBytes)) % blockBytes);
}

/** A name whose end fits in the field of names; its beginning has a field of its own. */
function split(name: string): { prefix: string; rest: string } {
  const at = Buffer.byteLength(name) <= nameBytes ? -1 : name.indexOf('/', Math.max(name.length - nameBytes - 1, 0));
  const [prefix, rest] = [at === -1 ? '' : name.slice(0, at), name.slice(at + 1)];
  if (Buffer.byteLength(prefix) > prefixBytes || Buffer.byteLength(rest) > nameBytes)
    throw new RangeError(`The name ${name.slice(0, nameBytes)}… is too long for an archive`);
  return { prefix, rest };
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
