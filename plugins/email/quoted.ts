// Divides a mail in the words that are new and the mails below them. Nothing is lost: what is folded is kept beside the text.

/** The new words of a mail, and what is quoted below them. */
export interface Folded {
  text: string;
  quoted: string;
}

const attribution = /^(On|Am|Le|El|Il|Op|Den) .{4,300}(wrote|schrieb|écrit|escribió|scritto|schreef|skrev)\b.{0,200}:$/;
const separator = /^-{2,}\s?(Original Message|Ursprüngliche Nachricht|Message d'origine|Mensaje original)\s?-{2,}$/i;
const firstHeader = /^\*?(From|Von|De|Da|Van):\*? .{1,300}$/;
const otherHeader = /^\*?(Sent|Date|To|Subject|Gesendet|Datum|An|Betreff|Envoyé|À|Objet)\s?:\*? /;
const [maxLines, maxChars] = [20_000, 200_000];

/** Folds what is quoted at the end of a mail, of which it reads the beginning; with answers between the quotes, nothing is folded. */
export function fold(given: string): Folded {
  const lines = given.slice(0, maxChars).replaceAll('\r\n', '\n').split('\n', maxLines);
  const text = lines.join('\n').trim();
  const at = lines.findIndex((_, index) => beginsQuote(lines, index));
  if (at === -1) return { text, quoted: '' };
  const [above, below] = [lines.slice(0, at).join('\n').trim(), lines.slice(at).join('\n').trim()];
  // A mail that is nothing but a quote is shown whole.
  if (above === '' || hasAnswers(lines.slice(at))) return { text, quoted: '' };
  return { text: above, quoted: below };
}

function beginsQuote(lines: readonly string[], at: number): boolean {
  const line = lineAt(lines, at);
  if (attribution.test(line) || separator.test(line)) return true;
  // Programs wrap the line.
  if (attribution.test(`${line} ${lineAt(lines, at + 1)}`) && !line.endsWith(':') && /^(On|Am|Le) /.test(line))
    return true;
  if (/^_{10,}$/.test(line)) return firstHeader.test(lineAt(lines, at + 1));
  if (firstHeader.test(line)) return otherHeader.test(lineAt(lines, at + 1));
  return line.startsWith('>');
}

function lineAt(lines: readonly string[], at: number): string {
  return (lines[at] ?? '').slice(0, 600).trim();
}

// Words between lines that begin with `>` answer them.
function hasAnswers(lines: readonly string[]): boolean {
  const lastQuoted = lines.findLastIndex((line) => line.startsWith('>'));
  const firstQuoted = lines.findIndex((line) => line.startsWith('>'));
  if (firstQuoted === -1) return false;
  const rest = [...lines.slice(firstQuoted, lastQuoted), ...untilSignature(lines.slice(lastQuoted + 1))];
  return rest.some((line) => line.trim() !== '' && !line.startsWith('>'));
}

function untilSignature(lines: readonly string[]): readonly string[] {
  const signature = lines.findIndex((line) => line === '-- ' || line === '--');
  return signature === -1 ? lines : lines.slice(0, signature);
}
