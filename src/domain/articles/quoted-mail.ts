import { wordsIn } from './question-words.ts';

/** Lines of a message that are read at most: longer ones are pasted. */
const linesAtMost = 400;
/** Words of a line that may be a sign-off or a name. */
const shortLine = 6;
/** Words of what a phone or a program puts below a message. */
const shortSentence = 10;

const quoted = /^\s*[>|]/;
const signature = /^(?:--|__+|––|—)\s*$/;
const forwarded =
  /^\s*[-_=]{0,40}\s?(?:begin |anfang der )?(?:forwarded|weitergeleitete[nr]?)\s(?:message|mail|e-mail|nachricht)\b.{0,60}$/iu;
const original = /^\s*[-_=]{2,40}\s?(?:original|ursprüngliche)/iu;
const attribution = /^\s*(?:on|am)\b.{6,200}(?:wrote|schrieb.{0,100}):\s*$/iu;
/** “On Monday, Kim Doe” and “<kim@example.com> wrote:” on the next line. */
const wrappedAttribution =
  /^([\s>]{0,20}(?:on|am)\b[^\n]{6,200})\r?\n([^\n]{0,200}\b(?:wrote|schrieb[^\n]{0,100}):\s*)$/gimu;
const header = /^\s*\*?(?:from|von|sent|gesendet|to|an|cc|date|datum|reply-to|antwort an)\*?:\s/iu;
// The text of a subject stays: sometimes it alone says what a mail is about.
const subject = /^\s*(?:\*?(?:subject|betreff)\*?:\s*)?(?:(?:re|aw|fwd?|wg):\s*){0,9}/iu;
const subjectLine = /^\s*\*?(?:subject|betreff)\*?:\s/iu;
const fromPhone =
  /^\s*(?:sent (?:from|with|via|by)|get outlook|gesendet (?:von|mit|via)|von meinem .{1,40} gesendet|diese (?:nachricht|e-mail) wurde von)\b/iu;
const disclaimer =
  /\b(?:confidential|privileged|intended (?:only|recipient|solely)|vertraulich\p{L}{0,3}|rechtlich geschützt|unbefugt\p{L}{0,3}|consider the environment|bevor sie diese)\b/iu;
const forwardedSubject = /^\s*(?:\*?(?:subject|betreff)\*?:\s*)?(?:fwd?|wg):/iu;
const signOff =
  /^\s*(?:(?:best|kind|warm|many)\s+)?(?:regards|wishes|thanks?|thank you|cheers|sincerely|yours|greetings|best|love|bye|all the best|respectfully|take care|ciao|tschüss|bis bald|alles gute|hochachtungsvoll|schöne[rn]? (?:tag|abend|woche)|(?:mit |viele |liebe |beste |freundlichen? |herzlichen? |schöne )*(?:grüße|grüsse|grüßen|gruß|gruss|dank|danke)|mfg|lg|vg)(?=$|[\s,.!])/iu;

/** The lines of a message that its author wrote, and those that somebody else wrote before. */
export interface Lines {
  own: string[];
  earlier: string[];
}

/**
 * The author's own lines, without what stands below the name, and the lines of earlier mails. Of a forwarded mail the text is
 * its author's; all of a message is that has nothing else.
 */
export function linesOf(message: string): Lines {
  const lines = withoutMarks(message.replace(wrappedAttribution, '$1 $2').split(/\r?\n/, linesAtMost));
  const end = endOf(lines);
  const own = lines.slice(0, end).filter((line) => !isOfMail(line));
  const isEmpty = own.every((line) => line.trim() === '');
  if (isEmpty) return { own: lines.filter((line) => !isAboutMail(line)).map(unquoted), earlier: [] };
  return { own: own.map(withoutSubject), earlier: earlierOf(lines, end) };
}

function withoutSubject(line: string): string {
  return line.replace(subject, '');
}

/** The lines of earlier mails: those with marks of quoting, and those behind a mail's header below the message. */
function earlierOf(lines: readonly string[], end: number): string[] {
  const begin = lines.findIndex((line, at) => at >= end && isAboutMail(line));
  const below = begin === -1 ? [] : lines.slice(begin);
  const above = lines.slice(0, begin === -1 ? lines.length : begin).filter((line) => quoted.test(line));
  return [...above, ...below]
    .map(unquoted)
    .filter((line) => !isAboutMail(line))
    .map(withoutSubject);
}

// Somebody who forwards a mail asks about what stands in it.
function withoutMarks(lines: readonly string[]): string[] {
  const at = lines.findIndex((line) => forwarded.test(line));
  return lines.map((line, index) => (at === -1 || index < at ? line : unquoted(line)));
}

function unquoted(line: string): string {
  return line.replace(/^[\s>|]+/, '');
}

/** The line at which the message is over: a signature, a sign-off, or a mail before that has no marks of quoting. */
function endOf(lines: readonly string[]): number {
  const begin = lines.findIndex((line) => line.trim() !== '' && !isOfMail(line));
  const end = lines.findIndex((line, at) => at > begin && begin !== -1 && ends(line, lines.slice(at + 1)));
  const mail = lines.findIndex((line, at) => at > begin && begin !== -1 && isHeader(line, lines[at + 1]));
  const above = lines.slice(0, Math.max(0, mail));
  const isForwarded = lines.some((line) => forwarded.test(line)) || above.some((line) => forwardedSubject.test(line));
  const ended = [end, isForwarded ? -1 : mail].filter((at) => at !== -1);
  return Math.min(lines.length, ...ended);
}

function ends(line: string, after: readonly string[]): boolean {
  if (signature.test(line) || (disclaimer.test(line) && !line.includes('?'))) return true;
  if (isSignOff(line)) return isNames(after);
  return isBeforeQuote(line) && !after.some((one) => quoted.test(one));
}

/** Whether a mail begins here as some programs quote it: two lines of its header, and no marks. */
function isHeader(line: string, next = ''): boolean {
  return header.test(line) && (header.test(next) || subjectLine.test(next));
}

/** Whether a line belongs to the mail and not to what its author says. */
function isOfMail(line: string): boolean {
  return quoted.test(line) || isAboutMail(line) || (fromPhone.test(line) && wordsIn(line) <= shortSentence);
}

/** Whether a line says when and by whom a mail was written. */
function isAboutMail(line: string): boolean {
  return header.test(line) || forwarded.test(line) || isBeforeQuote(line);
}

function isBeforeQuote(line: string): boolean {
  return attribution.test(line) || original.test(line);
}

function isSignOff(line: string): boolean {
  return signOff.test(line) && wordsIn(line) <= shortLine && !line.includes('?');
}

/** Whether no line is longer than a name with a town or a number. */
function isNames(lines: readonly string[]): boolean {
  return lines.every((line) => signature.test(line) || (wordsIn(line) <= shortLine && !line.includes('?')));
}
