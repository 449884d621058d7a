import { render } from 'preact';
import { Chat } from './chat.ts';
import styles from './styles.css';
import { Widget } from './widget.tsx';

const script = document.currentScript as HTMLScriptElement | null;

// The script may stand in the head of the page.
function start({ src, dataset }: HTMLScriptElement): void {
  const { inbox, identifier, identifierHash, name, email } = dataset;
  if (!inbox) return console.error('Switchboard: the script needs data-inbox, the identifier of the inbox');
  const chat = new Chat({
    origin: new URL(src).origin,
    inbox,
    visitor: { identifier, identifierHash, name, email },
  });
  const host = document.createElement('div');
  const shadow = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  // Not by a style element: the page's policy may allow none.
  sheet.replaceSync(styles);
  shadow.adoptedStyleSheets = [sheet];
  document.body.append(host);
  render(<Widget chat={chat} />, shadow);
  void chat.load();
}

if (script) {
  if (document.body) start(script);
  else document.addEventListener('DOMContentLoaded', () => start(script));
}
