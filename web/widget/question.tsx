import { useState } from 'preact/hooks';
import type { Message } from './service.ts';

interface QuestionProps {
  message: Message;
  /** Whether the visitor has answered it, or something newer was asked. */
  isOver: boolean;
  answer: (content: string) => void;
}

/** Input that a message asks for: buttons of a choice, or a field for an email address; else nothing. */
export function Question({ message, isOver, answer }: QuestionProps) {
  if (isOver) return null;
  if (message.content_type === 'input_email') return <EmailField answer={answer} />;
  if (message.content_type !== 'input_select') return null;
  return (
    <div class="choices" role="group" aria-label={message.content}>
      {itemsOf(message).map(({ title, value }) => (
        <button type="button" onClick={() => answer(value)}>
          {title}
        </button>
      ))}
    </div>
  );
}

function EmailField({ answer }: Pick<QuestionProps, 'answer'>) {
  const [address, setAddress] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    answer(address.trim());
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

/** The items of a choice. Whoever sends it writes them, and nobody checks them. */
export function itemsOf({ content_attributes: { items } }: Message): { title: string; value: string }[] {
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown) => {
    const { title, value } = (item ?? {}) as { title?: unknown; value?: unknown };
    if (typeof value !== 'string' && typeof value !== 'number') return [];
    return [{ title: typeof title === 'string' ? title : String(value), value: String(value) }];
  });
}
