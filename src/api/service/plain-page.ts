import type { ApiError } from '../../errors.ts';
import type { StaticFile } from '../../http/server/static-files.ts';
import { escapeHtml } from '../../lib/text/escape-html.ts';

const sheet = `:root {
  color-scheme: light dark;
  --back: light-dark(#f6f7f9, #14171c);
  --panel: light-dark(#ffffff, #1d2128);
  --line: light-dark(#d5dae1, #363c47);
  --text: light-dark(#1b2129, #e8ebf0);
  --faint: light-dark(#566070, #a3adbb);
  --accent: light-dark(#0b5cad, #7db8f5);
  --on-accent: light-dark(#ffffff, #0c1a2a);
  font: 15px/1.5 system-ui, sans-serif;
  color: var(--text);
  background: var(--back);
}
body { margin: 0; }
main {
  box-sizing: border-box;
  width: min(26rem, calc(100% - 2rem));
  margin: 12vh auto 0;
  padding: 1.5rem;
  border: 1px solid var(--line);
  border-radius: 10px;
  background: var(--panel);
  overflow-wrap: anywhere;
}
.brand { margin: 0 0 1rem; font-weight: 650; color: var(--faint); }
h1 { margin: 0; font-size: 1.4rem; line-height: 1.25; }
a { color: var(--accent); }
button, .button {
  display: block;
  box-sizing: border-box;
  width: 100%;
  padding: 0.6rem 1rem;
  border: 1px solid var(--accent);
  border-radius: 6px;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

interface PlainPage {
  title: string;
  /** HTML. */
  content: string;
  /** A path of this service that the page goes on to by itself. */
  next?: string;
}

/** A page outside of the console: no script, one sheet, everything from this service. */
export function plainPage({ title, content, next }: PlainPage): string {
  const refresh = next === undefined ? '' : `<meta http-equiv="refresh" content="0;url=${escapeHtml(next)}">\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Switchboard</title>
${refresh}<link rel="icon" href="data:,">
<link rel="stylesheet" href="/pages.css">
</head>
<body>
<main>
<p class="brand">Switchboard</p>
<h1>${escapeHtml(title)}</h1>
${content}
</main>
</body>
</html>
`;
}

/** An error of an operation that answers pages, for people. */
export function drawError({ message, status }: ApiError, requestId: string): string {
  const told = status === 500 ? `\n<p>request_id: ${escapeHtml(requestId)}</p>` : '';
  return plainPage({
    title: 'This did not work',
    content: `<p>${escapeHtml(message)}.</p>${told}\n<a class="button" href="/console">Open the console</a>`,
  });
}

/** The style sheet of plain pages. */
export const plainPageFiles: readonly StaticFile[] = [
  { path: '/pages.css', type: 'css', read: () => Buffer.from(sheet), headers: {} },
];
