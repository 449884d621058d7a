import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Bytes of a file as they are served: as it is, and compressed in advance where that makes it smaller. */
interface Content<Bytes> {
  bytes: Bytes;
  br?: Bytes;
  gzip?: Bytes;
}

interface Facts {
  /** A file extension, which implies the media type. */
  type: string;
  headers: Readonly<Record<string, string>>;
}

/** A built file. */
export type SiteFile = Facts & Content<Buffer>;

/** The built files: pages by the path of their HTML file in web/, all others by the path at which they are shown. */
export type SiteFiles = ReadonlyMap<string, SiteFile>;

type Written = Facts & Content<string>;

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

/** Compresses the content of a file as far as it can be. */
export async function compress(bytes: Buffer): Promise<Content<Buffer>> {
  const [br, small] = await Promise.all([
    toBrotli(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    toGzip(bytes, { level: 9 }),
  ]);
  return {
    bytes,
    ...(br.length < bytes.length ? { br } : {}),
    ...(small.length < bytes.length ? { gzip: small } : {}),
  };
}

/** Writes built files, and the hash of what they were built from, as text. */
export function writeSite(hash: string, files: SiteFiles): string {
  const written = Array.from(files, ([path, { type, headers, ...content }]): [string, Written] => [
    path,
    { type, headers, ...mapContent(content, (bytes) => bytes.toString('base64')) },
  ]);
  return JSON.stringify({ hash, files: written });
}

/** Reads what writeSite wrote. */
export function readSite(text: string): { hash: string; files: SiteFiles } {
  const { hash, files } = JSON.parse(text) as { hash: string; files: [string, Written][] };
  const read = files.map(([path, { type, headers, ...content }]): [string, SiteFile] => [
    path,
    { type, headers, ...mapContent(content, (base64) => Buffer.from(base64, 'base64')) },
  ]);
  return { hash, files: new Map(read) };
}

function mapContent<From, To>({ bytes, br, gzip: small }: Content<From>, map: (from: From) => To): Content<To> {
  return {
    bytes: map(bytes),
    ...(br === undefined ? {} : { br: map(br) }),
    ...(small === undefined ? {} : { gzip: map(small) }),
  };
}
