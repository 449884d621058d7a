const fence = /^ {0,3}(?:```|~~~)/;
const rule = /^ {0,3}(?:[-*_] *){3,}$/;
// An underscore within a word is no mark, and an escaped mark is a character.
const marks = /\\([\\`*_{}[\]()#+\-.!|~])|(?<![\p{L}\p{N}_])_{1,3}|_{1,3}(?![\p{L}\p{N}_])|[*~`]/gu;
const tableRule = /^[\s|:-]+$/;

/** The words of a Markdown text, without what marks them up. Takes time linear in its length. */
export function plainText(markdown: string): string {
  return markdown
    .split('\n')
    .filter((line) => !fence.test(line) && !rule.test(line) && !(line.includes('|') && tableRule.test(line)))
    .map((line) => plainLine(line))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

// No expression here goes over a character twice: each class leaves out what the next one begins with.
function plainLine(line: string): string {
  return line
    .replace(/^[\s>]*(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s)?/, '')
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/<https?:[^<>\s]*>/g, '')
    .replace(/<\/?[a-z][^<>]*>/gi, ' ')
    .replaceAll('|', ' ')
    .replace(marks, (_, escaped: string | undefined) => escaped ?? '');
}
