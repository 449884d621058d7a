import type { ComponentChildren } from 'preact';
import { Page } from './page.tsx';

/** A whole page with nothing but a sentence. */
export function Sentence({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <Page title={title}>
      <p class="empty">{children}</p>
    </Page>
  );
}
