import type { Mutant } from './mutant.ts';

const loading = 'test/browser/loading.test.ts';
const stream = 'test/browser/stream.test.ts';
const accounts = 'test/browser/accounts.test.ts';

export const consoleKit: readonly Mutant[] = [
  {
    file: 'web/shared/live.ts',
    text: "    if (this.#cursor === null) this.#tell('missed');\n",
    replacement: '',
    test: stream,
    only: 'loses nothing',
    harm: 'What happens while a page is being opened is not shown until something else happens.',
  },
  {
    file: 'web/shared/live.ts',
    text: '    else this.problem.set(refusal.message);\n',
    replacement: '',
    test: stream,
    only: 'that is refused',
    harm: 'A list stands still, and nothing says why.',
  },
  {
    file: 'web/shared/live.ts',
    text: '    clearTimeout(this.#leaving);\n    if (this.#timer === null) this.#start();',
    replacement: '    if (this.#timer === null) this.#start();',
    test: stream,
    only: 'is one for all views',
    harm: 'A page that follows events hears nothing any more, seconds after it was opened from another one.',
  },
  {
    file: 'web/shared/live.ts',
    text: '    this.#pauseMs = Math.min(lastPauseMs, this.#pauseMs * 2);\n',
    replacement: '',
    test: stream,
    only: 'that is refused',
    harm: 'Every page that is refused asks three times a second, for as long as it is open.',
  },
  {
    file: 'web/shared/call.ts',
    text: '    if (reply === undefined) throw unreadable();\n',
    replacement: '',
    test: loading,
    only: 'cut off',
    harm: 'A page breaks when an answer was cut off, and nobody is told.',
  },
  {
    file: 'web/console/kit/load.tsx',
    text: '      if (running.current) void reload();\n',
    replacement: '',
    test: loading,
    only: 'gives way',
    harm: 'A change seems to be undone as soon as an answer arrives that is older.',
  },
  {
    file: 'web/console/pages/bots/bot-settings.tsx',
    text: '      if (present === draft) return draftOf(saved);\n      return present.secrets',
    replacement:
      '      if (present.name !== saved.name || present) return draftOf(saved);\n      return present.secrets',
    test: loading,
    only: 'leaves what is entered',
    harm: 'What is entered while the settings of a bot are being stored is gone.',
  },
  {
    file: 'web/console/kit/more.tsx',
    text: '    wanted.parts += 1;\n',
    replacement: '',
    test: loading,
    only: 'Show more',
    harm: 'Who goes on in a list is thrown back to its beginning.',
  },
  {
    file: 'web/console/kit/dialog.tsx',
    text: '      {isTopmost && <Toasts />}\n',
    replacement: '',
    test: 'test/browser/toasts.test.ts',
    harm: 'Nobody can read in a dialog why something in it failed.',
  },
  {
    file: 'web/console/router.ts',
    text: "if (typeof href === 'string' && href.startsWith('/console')) Object.assign(props, { href: withAccount(href) });",
    replacement: '',
    test: accounts,
    only: 'keeps the chosen account',
    harm: 'A tab that is opened from one account shows another one.',
  },
  {
    file: 'web/console/session.ts',
    text: 'return accounts.find(({ id }) => String(id) === account) ?? null;',
    replacement: 'return accounts.find(({ id }) => String(id) === account) ?? accounts[0] ?? null;',
    test: accounts,
    only: 'in an account of others',
    harm: 'Whoever follows a link into an account of others acts in an own one unawares.',
  },
  {
    file: 'web/console/session.ts',
    text: '    if (!isFinal(error)) throw error;\n',
    replacement: '',
    test: accounts,
    only: 'nobody answered',
    harm: 'A link that signs in once is lost when the service restarts at that moment.',
  },
  {
    file: 'web/console/app.tsx',
    text: 'key={`${profile.id} ${account?.id}`}',
    replacement: 'key={account?.id}',
    test: accounts,
    only: 'the person before',
    harm: 'Whoever signs in by a link sees the secrets of the person before.',
  },
];
