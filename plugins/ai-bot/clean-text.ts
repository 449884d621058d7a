import type { Passage } from 'switchboard/bot';
import { withoutHtml } from './html.ts';
import { removeLinks } from './links.ts';

/** A text as customers may get it: without tags of HTML, and without links but exactly these. */
export function cleanText(text: string, allowed: readonly string[]): string {
  return removeLinks(withoutHtml(text), allowed);
}

/** The title of an article in one line, so that it cannot look like two sources. */
export function cleanTitle({ title }: Pick<Passage, 'title'>, allowed: readonly string[]): string {
  return cleanText(title.replace(/\s+/g, ' '), allowed).trim() || '…';
}
