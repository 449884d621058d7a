import { readFileSync } from 'node:fs';
import { expect } from 'chai';

/** What becomes of a hostile bot: it is stopped, refused, harmless, or its process is killed and started anew. */
type Outcome = 'stopped' | 'refused' | 'harmless' | 'killed' | 'stopped or killed';

/** [number, what it tries, what becomes of it, [file below test/, words of its test], …]. */
type Item = readonly [
  item: string,
  attempt: string,
  outcome: Outcome,
  ...shown: (readonly [file: string, title: string])[],
];

const sandbox = (item: string) => ['sandbox/hostile.test.ts', `${item} `] as const;
const taken = ['sandbox/child.test.ts', 'is killed when it ${title}'] as const;

/** Every item of the hostile corpus, and where it is shown; those of `hostile.test.ts` bear their number there. */
const corpus: readonly Item[] = [
  ['H01', 'the function constructor, for `process`', 'harmless', sandbox('H01')],
  ['H02', 'the same by a function, value or error of the host', 'harmless', sandbox('H02')],
  ['H03', 'import(), require, process.binding', 'refused', sandbox('H03')],
  ['H04', 'names on globalThis that are not of the language', 'harmless', sandbox('H04')],
  ['H05', 'text that breaks out of the wrapper', 'refused', sandbox('H05')],
  [
    'H06',
    'the caller of a sloppy function, `with`',
    'refused',
    sandbox('H06'),
    ['sandbox/sandbox.test.ts', 'reports code that cannot be loaded'],
  ],
  ['H07', 'replaced builtins', 'harmless', sandbox('H07')],
  [
    'H08',
    'setters and `then` on prototypes',
    'stopped',
    sandbox('H08'),
    ['runs/hostile-doors.test.ts', 'H08 prototypes that a bot has poisoned'],
  ],
  ['H09', 'Symbol.species', 'harmless', sandbox('H09')],
  ['H10', 'thrown values that are no errors', 'stopped', sandbox('H10')],
  ['H11', 'nested errors', 'stopped', sandbox('H11')],
  ['H12', 'Error.prepareStackTrace', 'refused', sandbox('H12')],
  ['H13', 'WebAssembly', 'refused', sandbox('H13')],
  ['H14', 'compiled code in a package', 'refused', ['packages/archives.test.ts', 'compiled code of V8']],
  ['H15', 'endless loops', 'stopped', sandbox('H15')],
  ['H16', 'endless microtasks', 'stopped', sandbox('H16')],
  ['H17', 'a promise that never settles', 'stopped', sandbox('H17')],
  ['H18', 'a loop after a call', 'stopped', sandbox('H18')],
  ['H19', 'a result with a looping then', 'stopped', sandbox('H19')],
  ['H20', 'actions with looping getters, toJSON, proxies', 'stopped', sandbox('H20')],
  ['H21', 'errors with looping getters', 'stopped', sandbox('H21')],
  ['H22', 'an unhandled rejection with such an error', 'killed', sandbox('H22')],
  ['H23', 'a loop or such an error while loading', 'stopped', sandbox('H23')],
  ['H24', 'regular expressions that backtrack', 'stopped or killed', sandbox('H24')],
  ['H25', 'towers of BigInt', 'stopped or killed', sandbox('H25')],
  ['H26', 'normalizing megabytes', 'killed', sandbox('H26')],
  ['H27', 'sparse arrays', 'killed', sandbox('H27')],
  ['H28', 'a sort with a looping comparison', 'stopped', sandbox('H28')],
  ['H29', 'deep recursion and nesting', 'stopped', sandbox('H29')],
  ['H30', 'arrays, objects, maps, closures that grow', 'stopped or killed', sandbox('H30')],
  ['H31', 'typed arrays that grow', 'stopped or killed', sandbox('H31')],
  ['H32', 'resizable buffers', 'refused', sandbox('H32')],
  ['H33', 'WebAssembly and shared memory', 'refused', sandbox('H33')],
  ['H34', 'texts that grow', 'stopped or killed', sandbox('H34')],
  ['H35', 'JSON that repeats', 'stopped or killed', sandbox('H35')],
  ['H36', 'megabytes of source', 'refused', sandbox('H36')],
  ['H37', 'arrays that double', 'stopped or killed', sandbox('H37')],
  ['H38', 'formatters without end', 'stopped or killed', sandbox('H38')],
  ['H39', 'waiting on shared memory', 'refused', sandbox('H39')],
  ['H40', 'a million calls at once', 'refused', sandbox('H40')],
  ['H41', 'calls without end', 'refused', sandbox('H41')],
  ['H42', 'huge actions, calls and logs', 'refused', sandbox('H42'), ['sandbox/sandbox.test.ts', 'cuts the log']],
  ['H43', 'endless stack traces', 'stopped', sandbox('H43')],
  ['H44', 'forged messages of a process that was taken over', 'killed', taken],
  [
    'H45',
    'globals of one event in the next',
    'harmless',
    ['sandbox/sandbox.test.ts', 'keeps nothing from one run to the next'],
  ],
  [
    'H46',
    'globals of one account in another',
    'harmless',
    ['runs/neighbours.test.ts', 'nothing that a run leaves is found'],
  ],
  ['H47', 'measuring time', 'harmless', sandbox('H47')],
  [
    'H48',
    'a secret as text, in a log, in a URL',
    'harmless',
    ['runs/doors.test.ts', 'come back to nobody'],
    ['runs/hostile-doors.test.ts', 'a secret is no text'],
  ],
  ['H49', 'a secret to another allowed host', 'refused', ['runs/doors.test.ts', "it('go nowhere else'"]],
  [
    'H50',
    'private addresses and their disguises',
    'refused',
    ['runs/hostile-doors.test.ts', 'H50'],
    ['outbound/outbound-ssrf.test.ts', 'refuses the host'],
  ],
  [
    'H51',
    'a name that leads inside, or changes its mind',
    'refused',
    ['runs/hostile-doors.test.ts', 'H51'],
    ['outbound/outbound-ssrf.test.ts', 'refuses a name that was public when registered'],
  ],
  ['H52', 'a redirect to a private address', 'harmless', ['runs/doors.test.ts', 'follows no redirect']],
  [
    'H53',
    'hosts that look like an allowed one',
    'refused',
    ['runs/hostile-doors.test.ts', 'H53'],
    ['runs/doors.test.ts', 'reaches listed hosts by listed methods'],
  ],
  ['H54', 'an allowed host in the path', 'refused', ['runs/doors.test.ts', 'https://evil.example/${host}/']],
  [
    'H55',
    'answers that are huge, packed, late or drip',
    'refused',
    ['runs/hostile-doors.test.ts', 'H55'],
    ['runs/doors.test.ts', "['huge', 'too_large']"],
    ['outbound/outbound-http.test.ts', 'never inflates a gzip bomb'],
  ],
  [
    'H56',
    'a contact field that was not granted',
    'refused',
    ['runs/actions.test.ts', 'reading a contact field that was not asked for'],
    ['sandbox/event-view.test.ts', 'is nothing in ${name}'],
  ],
  [
    'H57',
    'forged actions, also of other conversations',
    'refused',
    ['sandbox/sandbox.test.ts', "'a forged type'"],
    ['runs/actions.test.ts', 'are refused in another conversation'],
    ['runs/actions.test.ts', 'drops the whole batch of a bot that may not'],
  ],
  [
    'H58',
    'a bot that answers itself',
    'stopped',
    ['runs/overtaken.test.ts', 'is told of five of its answers in a row'],
  ],
  [
    'H59',
    'bots that answer each other',
    'stopped',
    ['api/accounts/webhook-bot.test.ts', 'may work on what it serves, and on nothing else'],
    ['api/accounts/webhook-bot.test.ts', 'that talks in a loop is stopped'],
  ],
  [
    'H60',
    'a bot that calls itself every second',
    'refused',
    ['runs/schedule.test.ts', 'have bounds'],
    ['runs/schedule.test.ts', 'are replaced by the same name'],
  ],
];

/** What is hostile at the doors beside the corpus. */
const doors: readonly Item[] = [
  [
    'permissions',
    'each action and call without its grant',
    'refused',
    ['runs/doors.test.ts', 'refuses the whole batch, even if it is caught'],
    ['runs/actions.test.ts', 'drops the whole batch of a bot that may not'],
  ],
  [
    'fetch',
    'requests that no bot could have meant',
    'refused',
    ['runs/hostile-doors.test.ts', 'fetch gets no request'],
    ['runs/doors.test.ts', "refuses headers that are not the bot's to set"],
  ],
  ['fetch', 'requests without end', 'refused', ['runs/doors.test.ts', 'may be called ten times in a run']],
  [
    'storage',
    'more than the quota, keys and values out of bounds',
    'refused',
    ['runs/doors.test.ts', 'over its quota throws'],
    ['runs/doors.test.ts', 'takes keys and values within bounds only'],
  ],
  [
    'storage',
    'names of prototypes',
    'harmless',
    ['runs/hostile-doors.test.ts', 'storage takes names of prototypes as names'],
  ],
  ['schedule', 'more calls than a conversation may have', 'refused', ['runs/schedule.test.ts', 'too_many_schedules']],
  ['schedule', 'talking after people took over', 'refused', ['runs/schedule.test.ts', 'are silent after a takeover']],
  [
    'secrets',
    'settings marked as secret',
    'harmless',
    ['runs/doors.test.ts', 'among the settings never enter the isolate'],
  ],
  [
    'archives',
    'links, paths out of the folder, bombs, damage',
    'refused',
    ['packages/archives.test.ts', 'a symbolic link'],
    ['packages/archives.test.ts', "'a bomb'"],
    ['packages/archives.test.ts', 'survives random damage'],
  ],
  [
    'archives',
    'packages that are no plugins',
    'refused',
    ['packages/hostile-packages.test.ts', 'refuses ${title}'],
    ['api/platform/plugins.test.ts', 'the same version again does nothing'],
  ],
  [
    'API',
    'being slowed down by hostile bots',
    'harmless',
    ['faults/hostile-bots.test.ts', 'meanwhile the API answers'],
  ],
];

describe('the hostile corpus', () => {
  it('has every item from H01 to H60, once, in order', () => {
    const numbers = Array.from({ length: 60 }, (_, index) => `H${String(index + 1).padStart(2, '0')}`);
    expect(corpus.map(([item]) => item)).to.deep.equal(numbers);
  });

  for (const [item, attempt, outcome, ...shown] of [...corpus, ...doors]) {
    it(`${item} ${attempt}: ${outcome}`, () => {
      expect(shown).not.to.deep.equal([]);
      for (const [file, title] of shown) {
        expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'), file).to.contain(title);
      }
    });
  }
});
