/** How elements of a type are written: their OID in PostgreSQL, the bytes of a value, and where they go. */
interface Element {
  oid: number;
  sizeOf: (value: never) => number;
  write: (into: Buffer, value: never, at: number) => void;
}

const year2000 = Date.UTC(2000, 0, 1);
const headerBytes = 12;
const dimensionBytes = 8;
const lengthBytes = 4;

const elements = {
  boolean: { oid: 16, sizeOf: () => 1, write: (into, value: boolean, at) => into.writeUInt8(value ? 1 : 0, at) },
  bigint: { oid: 20, sizeOf: () => 8, write: writeInt64 },
  int: { oid: 23, sizeOf: () => 4, write: (into, value: number, at) => into.writeInt32BE(value, at) },
  text: {
    oid: 25,
    sizeOf: (value: string) => Buffer.byteLength(value),
    write: (into, value: string, at) => into.write(value, at),
  },
  float8: { oid: 701, sizeOf: () => 8, write: (into, value: number, at) => into.writeDoubleBE(value, at) },
  timestamptz: {
    oid: 1184,
    sizeOf: () => 8,
    write: (into, value: Date, at) => writeInt64(into, (value.getTime() - year2000) * 1000, at),
  },
  uuid: {
    oid: 2950,
    sizeOf: () => 16,
    write: (into, value: string, at) => into.write(value.replaceAll('-', ''), at, 'hex'),
  },
  // JSON text, behind the number of its format.
  jsonb: {
    oid: 3802,
    sizeOf: (value: string) => 1 + Buffer.byteLength(value),
    write: (into, value: string, at) => into.write(value, into.writeUInt8(1, at)),
  },
} satisfies Record<string, Element>;

/** The types whose arrays can be written. */
export type ElementType = keyof typeof elements;

/**
 * An array as a parameter in PostgreSQL's binary format, for a place of the type `TYPE[]`: nothing is escaped or parsed, which
 * for the bodies of events takes longer than to store them. Integers are exact up to 2^53; JSON is given as text.
 */
export function arrayParameter(type: ElementType, values: readonly unknown[]): Buffer {
  const { oid, sizeOf, write }: Element = elements[type];
  const sizes = values.map((value) => (isNull(value) ? 0 : sizeOf(value as never)));
  const dimensions = values.length > 0 ? 1 : 0;
  const bytes = sizes.reduce((sum, size) => sum + lengthBytes + size, headerBytes + dimensions * dimensionBytes);
  const into = Buffer.allocUnsafe(bytes);
  let at = into.writeInt32BE(dimensions, 0);
  at = into.writeInt32BE(values.some(isNull) ? 1 : 0, at);
  at = into.writeInt32BE(oid, at);
  if (dimensions > 0) at = into.writeInt32BE(1, into.writeInt32BE(values.length, at));
  for (const [index, value] of values.entries()) {
    const size = sizes[index] ?? 0;
    at = into.writeInt32BE(isNull(value) ? -1 : size, at);
    if (!isNull(value)) write(into, value as never, at);
    at += size;
  }
  return into;
}

function isNull(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function writeInt64(into: Buffer, value: number, at: number): void {
  const high = Math.floor(value / 2 ** 32);
  into.writeInt32BE(high, at);
  into.writeUInt32BE(value - high * 2 ** 32, at + 4);
}
