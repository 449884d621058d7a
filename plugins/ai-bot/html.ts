// Nothing here goes over a character again and again: models write what they like.
const program = /<(\/?)(?:script|style)\b[^<>]{0,2000}>?/giu;
const lineBreak = /<br\s?\/?>/giu;
const tag = /<(?:\/?[a-z][a-z0-9-]*(?:\s[^<>]{0,2000})?\/?|!--[^<>]{0,2000}--)>/giu;

/** Maximum of tags within tags; of a text that hides them deeper nothing is kept. */
const maxRounds = 10;

/** The text without tags of HTML, and without what programs and styles have between theirs; “a < b” stays. */
export function withoutHtml(text: string): string {
  let left = withoutPrograms(text).replace(lineBreak, '\n');
  for (let round = 0; round < maxRounds; round += 1) {
    const cleaned = left.replace(tag, '');
    if (cleaned === left) return left;
    left = cleaned;
  }
  return '';
}

function withoutPrograms(text: string): string {
  let kept = '';
  let [from, begun] = [0, -1];
  for (const found of text.matchAll(program)) {
    const closes = found[1] === '/';
    if (!closes && begun === -1) begun = found.index;
    if (!closes || begun === -1) continue;
    kept += text.slice(from, begun);
    from = found.index + found[0].length;
    begun = -1;
  }
  return kept + text.slice(from);
}
