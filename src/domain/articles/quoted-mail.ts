import { wordsIn } from './question-words.ts';

/** Lines of a message that are read at most: longer ones are pasted. */
const linesAtMost = 400;
/** Words of a line that may be a sign-off or a name. */
const shortLine = 6;

const quoted = /^\s*>/;
const signature = /^(?:--|__+|––|—)\s*$/;
const forwarded =
  /^\s*[-_=]{0,40}\s?(?:begin |anfang der )?(?:forwarded|weitergeleitete[nr]?)\s(?:message|mail|e-mail|nachricht)\b.{0,60}$/iu;
const original = /^\s*[-_=]{2,40}\s?(?:original|ursprüngliche)/iu;
const attribution = /^\s*(?:on|am)\b.{6,200}(?:wrote|schrieb.{0,100}):\s*$/iu;
const header = /^\s*\*?(?:from|von|sent|gesendet|to|an|cc|date|datum|reply-to|antwort an)\*?:\s/iu;
// The text of a subject stays: sometimes it alone says what a mail is about.
const subject = /^\s*(?:\*?(?:subject|betreff)\*?:\s*)?(?:(?:re|aw|fwd?|wg):\s*){0,9}/iu;
const signOff =
  /^\s*(?:(?:best|kind|warm|many)\s+)?(?:regards|wishes|thanks?|thank you|cheers|sincerely|yours|greetings|(?:mit |viele |liebe |beste |freundlichen? |herzlichen? |schöne )*(?:grüße|grüsse|grüßen|gruß|gruss|dank|danke)|mfg|lg|vg)(?=$|[\s,.!])/iu;

/**
 * The lines of a message without what somebody else wrote before and without what stands below the name. Of a forwarded mail the
 * text stays; all of a message stays that has nothing else.
 */
export function ownLines(message: string): string[] {
  const lines = withoutMarks(message.split(/\r?\n/, linesAtMost));
  const own = lines.slice(0, endOf(lines)).filter((line) => !isOfMail(line));
  const isEmpty = own.every((line) => line.trim() === '');
  return isEmpty ? lines.map(unquoted) : own.map((line) => line.replace(subject, ''));
}

// Somebody who forwards a mail asks about what stands in it.
function withoutMarks(lines: readonly string[]): string[] {
  const at = lines.findIndex((line) => forwarded.test(line));
  return lines.map((line, index) => (at === -1 || index < at ? line : unquoted(line)));
}

function unquoted(line: string): string {
  return line.replace(/^[\s>]+/, '');
}

/** The line at which the message is over: a signature, a sign-off, or a mail before that has no marks of quoting. */
function endOf(lines: readonly string[]): number {
  const begin = lines.findIndex((line) => line.trim() !== '' && !isOfMail(line));
  const end = lines.findIndex((line, at) => at > begin && begin !== -1 && ends(line, lines.slice(at + 1)));
  return end === -1 ? lines.length : end;
}

function ends(line: string, after: readonly string[]): boolean {
  if (signature.test(line)) return true;
  if (isSignOff(line)) return isNames(after);
  return isBeforeQuote(line) && !after.some((one) => quoted.test(one));
}

/** Whether a line belongs to the mail and not to what its author says. */
function isOfMail(line: string): boolean {
  return quoted.test(line) || header.test(line) || forwarded.test(line) || isBeforeQuote(line);
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
