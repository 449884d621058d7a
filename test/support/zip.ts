import { crc32, deflateRawSync } from 'node:zlib';

interface Forged {
  size?: number;
  crc?: number;
  flags?: number;
  mode?: number;
  method?: 0 | 8;
  /** The directory says of every file that it is where the first one is, and the others are left out. */
  overlaps?: boolean;
}

/** A ZIP archive; what its headers say may be forged. */
export function zipOf(files: Readonly<Record<string, string | Buffer>>, forged: Forged = {}): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [content, nameBytes] = [Buffer.from(text), Buffer.from(name)];
    const { method = 8, flags = 0, mode = 0o100644, size = content.length, crc = crc32(content), overlaps } = forged;
    const packed = method === 0 ? content : deflateRawSync(content);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50);
    local.writeUInt16LE(nameBytes.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50);
    central.writeUInt8(3, 5);
    central.writeUInt16LE(flags, 8);
    central.writeUInt16LE(method, 10);
    central.writeUInt32LE(crc, 16);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(size, 24);
    central.writeUInt16LE(nameBytes.length, 28);
    central.writeUInt16LE(mode, 40);
    central.writeUInt32LE(offset, 42);
    directory.push(central, nameBytes);
    if (overlaps && locals.length > 0) continue;
    locals.push(local, nameBytes, packed);
    if (!overlaps) offset += local.length + nameBytes.length + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(directory.length / 2, 8);
  end.writeUInt16LE(directory.length / 2, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(Buffer.concat(locals).length, 16);
  return Buffer.concat([...locals, listed, end]);
}
