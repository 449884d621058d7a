const marks = /<\/?mark>/;
const characters: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** Search result with `<mark>` around matches. The escaped text is split here, and never becomes markup. */
export function Highlight({ html }: { html: string }) {
  // Every second piece is what stood within a mark.
  const pieces = html.split(marks).map(plain);
  return <>{pieces.map((text, index) => (index % 2 === 1 ? <mark key={index}>{text}</mark> : text))}</>;
}

function plain(escaped: string): string {
  return escaped.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (one) => characters[one] ?? one);
}
