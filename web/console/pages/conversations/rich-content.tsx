import { CardList } from '../../../shared/card-list.tsx';
import { cardsIn, choicesIn, chosenIn, type Choice } from '../../../shared/rich-content.ts';
import type { Message } from './transcript.ts';

/** Choices and cards of a message, with what the customer has chosen; nothing for other messages. */
export function RichContent({ message, messages }: { message: Message; messages: readonly Message[] }) {
  const chosen = chosenIn(message, messages);
  if (message.content_type === 'cards') {
    const postback = ({ title, value }: Choice) => (
      <span class={`choice ${value === chosen ? 'chosen' : ''}`}>{titleOf(title, value === chosen)}</span>
    );
    return <CardList cards={cardsIn(message)} label="Cards" origin={location.origin} postback={postback} />;
  }
  const items = choicesIn(message);
  if (items.length === 0) return null;
  return (
    <ul class="choices" aria-label="Choices">
      {items.map(({ title, value }, index) => (
        <li key={index} class={`choice ${value === chosen ? 'chosen' : ''}`}>
          {titleOf(title, value === chosen)}
        </li>
      ))}
    </ul>
  );
}

function titleOf(title: string, isChosen: boolean) {
  return isChosen ? (
    <>
      <b>{title}</b> <small>chosen</small>
    </>
  ) : (
    title
  );
}
