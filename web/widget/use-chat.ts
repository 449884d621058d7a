import { useLayoutEffect, useState } from 'preact/hooks';
import type { Chat } from './chat.ts';

/** Draws the component again whenever the chat changes. */
export function useChat(chat: Chat): void {
  const [, setCount] = useState(0);
  // At once: effects after painting would miss what a quick service has answered by then.
  useLayoutEffect(() => chat.subscribe(() => setCount((count) => count + 1)), [chat]);
}
