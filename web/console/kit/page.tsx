import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useStore } from '../../shared/store.ts';
import { unread } from '../unread.ts';

interface Props {
  title: string;
  /** Above the title: a link to the record that the page is about. */
  above?: ComponentChildren;
  /** Beside the title: what can be done here. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A view: its one heading, which is the browser's title too, and its content. */
export function Page({ title, above, actions, children }: Props) {
  const count = useStore(unread);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title} · Switchboard`;
  }, [title, count]);
  // Readers of the screen hear where a link has led them. Before anybody can enter a field, which would lose the focus.
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <main id="main">
      {above && (
        <nav class="above" aria-label="Breadcrumb">
          {above}
        </nav>
      )}
      <div class="head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </main>
  );
}
