import type { StaticFile } from '../http/server/static-files.ts';

const headers = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Built-in receiver – Switchboard</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/play/play.css">
  </head>
  <body>
    <header>
      <h1>Built-in receiver</h1>
      <p>A webhook receiver to try things with: it verifies every request and answers as you tell it to. It keeps the last 200 requests until the service ends.</p>
    </header>
    <main>
      <form id="sign-in" hidden>
        <label for="token">Access token</label>
        <input id="token" type="password" autocomplete="off" required>
        <button>Sign in</button>
        <p class="hint">The first start printed one; <code>npx switchboard token</code> makes another. It stays in this page until you close it.</p>
      </form>
      <p id="notice" role="alert"></p>
      <section id="receiver" hidden>
        <p>Webhooks to <code id="url"></code> arrive here.</p>
        <fieldset id="modes">
          <legend>How it answers</legend>
        </fieldset>
        <h2>Requests</h2>
        <p id="empty">None yet. Write a message in a conversation, or send a test to the webhook.</p>
        <ol id="requests"></ol>
      </section>
    </main>
    <noscript>This page needs JavaScript.</noscript>
    <script type="module" src="/play/play.js"></script>
  </body>
</html>
`;

const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.125rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .875rem; overflow-wrap: anywhere; }
.hint, time { color: light-dark(#57534e, #b8b3ad); }
input, button { font: inherit; padding: .375rem .625rem; }
fieldset { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; border: 1px solid GrayText; border-radius: .5rem; }
ol { list-style: none; padding: 0; }
li { border: 1px solid GrayText; border-radius: .5rem; margin: .5rem 0; padding: .5rem .75rem; overflow: hidden; }
summary { cursor: pointer; display: flex; flex-wrap: wrap; gap: .25rem .75rem; }
pre { white-space: pre-wrap; }
.good::before { content: "✓ "; }
.bad::before { content: "✗ "; }
.good { color: light-dark(#166534, #86efac); }
.bad { color: light-dark(#b91c1c, #fca5a5); font-weight: 600; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
#notice:empty { display: none; }
`;

// Everything that strangers can put into a request goes through textContent.
const script = `const pollMs = 1000;
const kept = 200;
const words = {
  ok: 'Answer 200',
  fail: 'Fail with 500',
  hang: 'Hang',
  slow: 'Answer after 3 s',
  gone: 'Answer 410, which switches webhooks off',
};
const at = (id) => document.getElementById(id);
let token = '';
let last = 0;
const waiting = new Map();

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

async function call(method, path, body) {
  const headers = { 'content-type': 'application/json' };
  if (token) headers.api_access_token = token;
  const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  const reply = await response.json();
  if (!response.ok) throw Object.assign(new Error(reply.error), { status: response.status });
  return reply;
}

function sentence(request) {
  if (request.status === null) return 'not answered';
  return 'answered ' + request.status;
}

function summaryOf(request) {
  const summary = element('summary');
  summary.append(
    element('time', new Date(request.received_at).toLocaleTimeString()),
    element('strong', request.event ?? 'no event'),
    element('span', request.verified ? 'verified' : 'not verified', request.verified ? 'good' : 'bad'),
    element('span', sentence(request)),
    element('span', request.attempt === null ? '' : 'attempt ' + request.attempt),
  );
  return summary;
}

function bodyOf(request) {
  try {
    return JSON.stringify(JSON.parse(request.body), null, 2);
  } catch {
    return request.body;
  }
}

function entryOf(request) {
  const entry = element('li');
  const details = element('details');
  const sender = request.webhook ? (request.webhook.name ?? 'Webhook ' + request.webhook.id) : request.problem;
  details.append(summaryOf(request), element('p', sender), element('p', request.path + (request.webhook_id ? ' · ' + request.webhook_id : '')));
  details.append(element('pre', bodyOf(request)));
  if (request.bytes > request.body.length) details.append(element('p', request.bytes + ' bytes in all', 'hint'));
  entry.append(details);
  entry.dataset.id = request.id;
  return entry;
}

function show(state) {
  at('url').textContent = state.url;
  at('notice').textContent = state.problem ?? '';
  at('sign-in').hidden = true;
  at('receiver').hidden = false;
  showModes(state);
  for (const request of state.payload.toReversed()) {
    if (request.id <= last && !waiting.has(request.id)) continue;
    last = Math.max(last, request.id);
    const entry = entryOf(request);
    waiting.get(request.id)?.replaceWith(entry);
    if (!waiting.has(request.id)) at('requests').prepend(entry);
    if (request.status === null) waiting.set(request.id, entry);
    else waiting.delete(request.id);
  }
  while (at('requests').children.length > kept) at('requests').lastChild.remove();
  at('empty').hidden = at('requests').children.length > 0;
}

function showModes({ modes, mode }) {
  if (!at('modes').querySelector('input')) {
    for (const one of modes) {
      const label = element('label');
      const radio = Object.assign(element('input'), { type: 'radio', name: 'mode', value: one });
      radio.addEventListener('change', () => call('PUT', '/play/mode', { mode: one }).then(show, fail));
      label.append(radio, ' ' + (words[one] ?? one));
      at('modes').append(label);
    }
  }
  const chosen = at('modes').querySelector('input[value="' + mode + '"]');
  if (chosen) chosen.checked = true;
}

function fail(error) {
  const isOut = error.status === 401;
  if (isOut) {
    at('sign-in').hidden = false;
    at('receiver').hidden = true;
  }
  at('notice').textContent = isOut && !token ? '' : error.status ? error.message : 'The service does not answer: trying again.';
  if (isOut) token = '';
}

async function poll() {
  const unanswered = Math.min(last, ...[...waiting.keys()].map((id) => id - 1));
  try {
    show(await call('GET', '/play/requests?after=' + unanswered));
  } catch (error) {
    fail(error);
    if (error.status === 401) return;
  }
  setTimeout(poll, pollMs);
}

at('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  token = at('token').value.trim();
  at('token').value = '';
  void poll();
});
void poll();
`;

/** The page of the built-in receiver. */
export const playFiles: readonly StaticFile[] = [
  { path: '/play', type: 'html', read: () => Buffer.from(page), headers },
  { path: '/play/play.css', type: 'css', read: () => Buffer.from(style), headers },
  { path: '/play/play.js', type: 'js', read: () => Buffer.from(script), headers },
];
