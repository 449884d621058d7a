/** A web address in a text. */
export interface Link {
  href: string;
}

const links = /\bhttps?:\/\/[^\s<>"']+/gi;
// Punctuation behind a link belongs to the sentence. Greedy: a search for its start would begin anew at each character.
const withoutTail = /^.*[^.,;:!?)\]}]/s;

/** Splits a text into web addresses and what stands between them. Takes time linear in its length. */
export function splitLinks(text: string): (string | Link)[] {
  const parts: (string | Link)[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(links)) {
    const [href = found] = withoutTail.exec(found) ?? [];
    if (!URL.canParse(href)) continue;
    parts.push(text.slice(end, index), { href });
    end = index + href.length;
  }
  parts.push(text.slice(end));
  return parts;
}
