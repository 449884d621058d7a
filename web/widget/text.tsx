import { splitLinks } from './links.ts';

/** A text as it was written, its web addresses as links. Nothing in it is ever markup. */
export function Text({ text }: { text: string }) {
  return (
    <>
      {splitLinks(text).map((part) =>
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
