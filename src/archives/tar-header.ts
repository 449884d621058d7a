const blockBytes = 512;
const checksumAt = 148;

/** The header of a file in a tar archive. */
export function headerOf(name: string, bytes: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, 100);
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

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
