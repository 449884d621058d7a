// Reads mails as they are on the wire (RFC 5322, RFC 2045). Each line is read once for each level of parts, of which there are few.
import { bytesOfBase64, bytesOfQuoted, extendedText, headerText, textOfBytes } from './decode.ts';
import { addressIn, headersOf, type Mail } from './mail.ts';

/** A part without parts of its own. */
interface Leaf {
  type: string;
  charset: string;
  /** Null for a text of the mail itself. */
  name: string | null;
  bytes: string;
}

interface Header {
  value: string;
  parameters: ReadonlyMap<string, string>;
}

const [maxDepth, maxParts, maxHeader] = [8, 100, 4_000];
const reportTypes = /^(message\/(delivery-status|rfc822)|text\/rfc822-headers)$/;

/** Returns a mail from its bytes, which are letters up to U+00FF. */
export function readMime(raw: string): Mail {
  const { headers, body } = split(raw.replaceAll('\r\n', '\n'));
  const leaves = leavesOf(headers, body, maxDepth).slice(0, maxParts);
  const textOf = (type: string): string =>
    leaves
      .filter((leaf) => leaf.name === null && leaf.type === type)
      .map(({ bytes, charset }) => textOfBytes(bytes, charset))
      .join('\n');
  const from = headerText((headers.get('from')?.[0] ?? '').slice(0, maxHeader));
  const address = addressIn(from);
  const name = unquoted(from.replace(/<[^<>]*>\s*$/, ''));
  return {
    from: address === null ? null : { address, ...(name === '' || name === address ? {} : { name }) },
    subject: headerText((headers.get('subject')?.[0] ?? '').slice(0, maxHeader)),
    text: textOf('text/plain'),
    html: textOf('text/html'),
    headers,
    files: leaves
      .filter((leaf) => leaf.name !== null && leaf.bytes !== '')
      .map(({ name: given, bytes }, index) => ({ file_name: given || `file-${index + 1}`, data: btoa(bytes) })),
    reports: leaves.filter(({ type }) => reportTypes.test(type)).map(({ bytes }) => bytes),
  };
}

function unquoted(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && /[\s"]/.test(text.charAt(start))) start += 1;
  while (start < end && /[\s"]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function split(text: string): { headers: Mail['headers']; body: string } {
  const end = text.startsWith('\n') ? 0 : text.indexOf('\n\n');
  const head = end === -1 ? text : text.slice(0, end);
  const lines = head.replace(/\n[ \t]+/g, ' ').split('\n');
  const pairs = lines.flatMap((line): [string, string][] => {
    const at = line.indexOf(':');
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
  });
  return { headers: headersOf(pairs), body: end === -1 ? '' : text.slice(end).replace(/^\n{1,2}/, '') };
}

function leavesOf(headers: Mail['headers'], body: string, depth: number): Leaf[] {
  const { value: type, parameters } = headerIn(headers, 'content-type');
  const boundary = parameters.get('boundary');
  if (!type.startsWith('multipart/') || boundary === undefined) return [leafOf(headers, body)];
  if (depth === 0) return [];
  return partsOf(body, boundary).flatMap((part) => {
    const inner = split(part);
    return leavesOf(inner.headers, inner.body, depth - 1);
  });
}

function partsOf(body: string, boundary: string): string[] {
  const parts: string[][] = [];
  for (const line of body.split('\n')) {
    const mark = line.trimEnd();
    if (mark === `--${boundary}--`) break;
    if (mark === `--${boundary}`) parts.push([]);
    else parts.at(-1)?.push(line);
    if (parts.length > maxParts) break;
  }
  return parts.map((lines) => lines.join('\n'));
}

function leafOf(headers: Mail['headers'], body: string): Leaf {
  const { value: given, parameters } = headerIn(headers, 'content-type');
  const disposition = headerIn(headers, 'content-disposition');
  const type = given === '' ? 'text/plain' : given;
  const named = disposition.parameters.get('filename') ?? parameters.get('name');
  const isText = (type === 'text/plain' || type === 'text/html') && disposition.value !== 'attachment';
  const encoding = headerIn(headers, 'content-transfer-encoding').value;
  const bytes =
    encoding === 'base64' ? bytesOfBase64(body) : encoding === 'quoted-printable' ? bytesOfQuoted(body) : body;
  const isOfMail = isText && named === undefined;
  return { type, charset: parameters.get('charset') ?? 'utf-8', name: isOfMail ? null : (named ?? ''), bytes };
}

function headerIn(headers: Mail['headers'], name: string): Header {
  const text = (headers.get(name)?.[0] ?? '').slice(0, maxHeader);
  const [value = ''] = text.split(';', 1);
  const parameters = new Map<string, string>();
  for (const [, key = '', quoted, bare = ''] of text.matchAll(
    /;\s{0,100}([\w*-]{1,60})=(?:"([^"]{0,1000})"|([^;\s]{0,1000}))/g,
  ))
    add(parameters, key.toLowerCase(), quoted ?? bare);
  return { value: value.trim().toLowerCase(), parameters };
}

// A long name comes in numbered pieces (RFC 2231): `filename*0*=`, `filename*1=`.
function add(parameters: Map<string, string>, key: string, value: string): void {
  const [name = '', piece] = key.split('*', 2);
  const isExtended = key.endsWith('*');
  const text = isExtended ? extendedText(value) : headerText(value);
  parameters.set(
    name,
    piece === undefined || piece === '' || piece === '0' ? text : `${parameters.get(name) ?? ''}${text}`,
  );
}
