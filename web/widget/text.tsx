const links = /\bhttps?:\/\/[^\s<>"']+/gi;
// Punctuation belongs to the sentence, not to the link.
const tail = /[.,;:!?)\]}]+$/;

/** A text as it was written, its web addresses as links. Nothing in it is ever markup. */
export function Text({ text }: { text: string }) {
  const parts: (string | { href: string })[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(links)) {
    const href = found.replace(tail, '');
    if (!URL.canParse(href)) continue;
    parts.push(text.slice(end, index), { href });
    end = index + href.length;
  }
  parts.push(text.slice(end));
  return (
    <>
      {parts.map((part) =>
        typeof part === 'string' ? (
          part
        ) : (
          <a href={part.href} target="_blank" rel="noopener noreferrer nofollow">
            {part.href}
          </a>
        ),
      )}
    </>
  );
}
