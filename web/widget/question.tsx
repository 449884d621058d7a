import { useState } from 'preact/hooks';
import { CardList } from '../shared/card-list.tsx';
import { cardsIn, choicesIn, choicesOf, type Choice } from '../shared/rich-content.ts';
import type { Message } from './service.ts';

interface QuestionProps {
  message: Message;
  /** Whether the visitor can answer it no more. */
  isOver: boolean;
  /** The value that the visitor has chosen, or null. */
  chosen: string | null;
  /** The service's. */
  origin: string;
  /** Sends a choice, or an address without a value. */
  answer: (content: string, value: string | null) => void;
}

/** Content of a message below its text: buttons of a choice, cards, or a field for an email address; else nothing. */
export function Question(props: QuestionProps) {
  const { message, isOver, origin, answer } = props;
  const { content, content_type: type } = message;
  if (type === 'input_email') return isOver ? null : <EmailField answer={answer} />;
  const button = (choice: Choice) => <ChoiceButton {...props} choice={choice} />;
  if (type === 'cards')
    return <CardList cards={cardsIn(message)} label={content || 'Cards'} origin={origin} postback={button} />;
  if (type !== 'input_select') return null;
  return (
    <div class="choices" role="group" aria-label={content}>
      {choicesIn(message).map(button)}
    </div>
  );
}

/** Whether a message asks for a choice or an email address. */
export function asks(message: Message): boolean {
  return message.content_type === 'input_email' || choicesOf(message).length > 0;
}

function ChoiceButton({ choice: { title, value }, isOver, chosen, answer }: QuestionProps & { choice: Choice }) {
  const isChosen = value === chosen;
  return (
    <button
      type="button"
      class={isChosen ? 'chosen' : undefined}
      disabled={isOver}
      aria-pressed={chosen === null ? undefined : isChosen}
      onClick={() => answer(title, value)}
    >
      {title}
    </button>
  );
}

function EmailField({ answer }: Pick<QuestionProps, 'answer'>) {
  const [address, setAddress] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    answer(address.trim(), null);
  };
  return (
    <form class="email" onSubmit={submit}>
      <label>
        Your email address
        <input
          type="email"
          autocomplete="email"
          required
          maxLength={255}
          value={address}
          onInput={({ currentTarget }) => setAddress(currentTarget.value)}
        />
      </label>
      <button>Send address</button>
    </form>
  );
}
