import type { ComponentChildren } from 'preact';
import type { Card, Choice } from './rich-content.ts';

interface CardListProps {
  cards: readonly Card[];
  label: string;
  /** The service's: pictures of other origins would tell them who looks, and are links. */
  origin: string;
  /** Shows a postback. */
  postback: (choice: Choice) => ComponentChildren;
}

/** The cards of a message, their links in new tabs. */
export function CardList({ cards, label, origin, postback }: CardListProps) {
  return (
    <ul class="cards" aria-label={label}>
      {cards.map(({ title, description, mediaUrl, actions }, index) => (
        <li key={index} class="card">
          {mediaUrl !== null && <Media url={mediaUrl} title={title} origin={origin} />}
          <b dir="auto">{title}</b>
          {description !== '' && <p dir="auto">{description}</p>}
          {actions.map((action) =>
            'href' in action ? <Away href={action.href}>{action.text}</Away> : postback(action),
          )}
        </li>
      ))}
    </ul>
  );
}

function Media({ url, title, origin }: { url: string; title: string; origin: string }) {
  if (url.startsWith(`${origin}/files/`)) return <img src={url} alt="" loading="lazy" />;
  return (
    <Away href={url} label={`View image: ${title}`}>
      View image
    </Away>
  );
}

function Away({ href, label, children }: { href: string; label?: string; children: ComponentChildren }) {
  return (
    <a href={href} aria-label={label} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
