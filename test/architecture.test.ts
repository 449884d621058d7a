import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { codeOf, importsOf, readSources, type Sources } from './support/source-code.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The floors of src/, lowest first. A file imports from lower floors and from its own folder. */
const floors: readonly (readonly string[])[] = [
  ['lib'],
  ['errors.ts'],
  ['fault-sentences.ts'],
  ['schemas.ts', 'config.ts'],
  ['entities', 'migrations'],
  ['database.ts', 'migrate.ts'],
  ['events'],
  ['domain'],
  ['engine', 'runtime', 'jobs'],
  ['http'],
  ['api'],
];
const maxLines = 300;
/** Why a file may be longer. */
const longFiles: Readonly<Record<string, string>> = {
  'src/migrations/20261120-first-schema.ts':
    'one migration is one list of statements, and is never changed once released',
};

/** The files of src/api and src/domain that may reach the database outside of the transaction they are called in. */
const besideTransactions: Readonly<Record<string, string>> = {
  'src/domain/backlogs.ts': 'a sweep: each batch of deliveries or lanes is a transaction of its own',
  'src/domain/contact-erasure.ts': 'a sweep: each batch of conversations is a transaction of its own',
  'src/domain/idempotency-keys.ts': 'a sweep: each batch of old answers goes in a transaction of its own',
  'src/domain/label-renames.ts': 'a sweep: each batch of conversations is a transaction of its own',
  'src/domain/retention.ts': 'a sweep: each batch of old events goes in a transaction of its own',
  'src/domain/sla.ts': 'a sweep: each conversation is a transaction of its own',
  'src/domain/snoozes.ts': 'a sweep: each conversation is a transaction of its own',
  'src/domain/sweep.ts': 'what all sweeps have in common: it looks whether the database is there',
};

interface Fence {
  what: string;
  /** The only file that may; null = none. */
  only: string | null;
  /** Modules by name. */
  modules?: RegExp;
  /** Code, without comments and the contents of strings: code that runs inside isolates stands in strings. */
  code?: RegExp;
}

/** What one file keeps to itself, so that it can be exchanged, watched or made still there. */
const fences: readonly Fence[] = [
  { what: 'the environment', only: 'src/config.ts', code: /\bprocess\s*\.\s*env\b|\bprocess\s*\[/ },
  { what: 'isolated-vm', only: 'src/runtime/sandbox.ts', modules: /^isolated-vm$/ },
  // The one that has no file system; it may be loaded in the process that reads one package only.
  { what: 'the bundler', only: 'src/runtime/bundle.ts', modules: /^esbuild/ },
  { what: 'the model client', only: null, modules: /^openai(\/|$)/ },
  { what: 'Agenda', only: 'src/jobs/alarm-clock.ts', modules: /^agenda$|^@agendajs\// },
  { what: 'outbound HTTP', only: 'src/lib/outbound-connections.ts', modules: /^undici$/ },
  // The demo is a client of the running service, not a part of it.
  { what: 'fetch', only: 'src/cli/demo.ts', code: /(?<![.\w])fetch\s*\(/ },
  { what: 'mail', only: 'src/lib/mail.ts', modules: /^nodemailer(\/|$)/ },
  {
    what: 'the clock',
    only: 'src/lib/ports.ts',
    code: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?!\s*\()|\bnew\s+Date\s*\(\s*\)|(?<!new\s)(?<![.\w])Date\s*\(|\btimeOrigin\b/,
  },
  {
    what: 'randomness',
    only: 'src/lib/ports.ts',
    code: /\bMath\s*\.\s*random\b|\brandom(?:Bytes|Int|UUID|Fill|FillSync)\b|\bgetRandomValues\b|\bwebcrypto\b/,
  },
  { what: 'code from text', only: null, modules: /^(node:)?vm$|^vm2$/, code: /(?<![.\w])eval\s*\(|\bnew\s+Function\b/ },
];

function partOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** Files of src/ that are on no floor are the app level: they put everything together. */
function floorOf(path: string): number {
  const floor = floors.findIndex((parts) => parts.includes(partOf(path)));
  return floor === -1 ? floors.length : floor;
}

function isInside(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}

function findFloorProblems(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!isInside('src', path)) continue;
    for (const { target, isFile } of importsOf(path, text)) {
      if (!isFile || !isInside('src', target) || partOf(target) === partOf(path)) continue;
      const [from, to] = [floorOf(path), floorOf(target)];
      if (to > from || (to === from && from < floors.length))
        problems.push(`${path} imports ${target}, which is not below`);
    }
  }
  return problems;
}

function findPackageProblems(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!isInside('plugins', path) && !isInside('bots', path)) continue;
    const own = path.split('/').slice(0, 2).join('/');
    for (const { target, isFile } of importsOf(path, text)) {
      const allowed = isFile ? isInside(own, target) : target === 'switchboard/bot';
      if (!allowed) problems.push(`${path} imports ${target}, which is not the bot API`);
    }
  }
  return problems;
}

function findFenceProblems(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!isInside('src', path)) continue;
    const code = codeOf(text);
    const modules = importsOf(path, text).filter(({ isFile }) => !isFile);
    for (const { what, only, modules: names, code: pattern } of fences) {
      if (path === only) continue;
      const named = names !== undefined && modules.some(({ target }) => names.test(target));
      if (named || pattern?.test(code)) problems.push(`${path} uses ${what}, which belongs to ${only ?? 'nobody'}`);
    }
  }
  return problems;
}

/** A second connection, taken while a transaction holds the first, waits for itself when there are no more. */
function findSecondConnections(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!isInside('src/api', path) && !isInside('src/domain', path)) continue;
    const reaches = importsOf(path, text).some(({ target }) => target === 'src/database.ts');
    if (reaches && !besideTransactions[path]) problems.push(`${path} reaches the database beside its transaction`);
  }
  return problems;
}

/** Whatever the alarm clock calls goes over many rows: one that fails must not keep back the others, nor be tried at full speed. */
function findBareAlarms(sources: Sources): string[] {
  const alarms = 'src/alarms.ts';
  return importsOf(alarms, sources.get(alarms) ?? '')
    .filter(({ target, isFile, typeOnly }) => isFile && !typeOnly && isInside('src/domain', target))
    .filter(({ target }) => {
      const imports = importsOf(target, sources.get(target) ?? '');
      return !imports.some((one) => one.target === 'src/domain/sweep.ts');
    })
    .map(({ target }) => `${alarms} calls ${target}, which is no sweep`);
}

function findSizeProblems(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    const lines = text.split('\n').length - 1;
    if (lines > maxLines && !longFiles[path]) problems.push(`${path} has ${lines} lines`);
  }
  return problems;
}

const silenceColumns = /\b(?:bot_silence|bot_silence_of|human_silence|bot_streak)\b/;
const silenceFields = /\b(?:botSilence|botSilenceOf|humanSilence|botStreak)['"]?\]?\s*(?::|[-+*?|&]*=(?![=>])|\+\+|--)/;
/** Who may write what silences bots: the rule, and the rows it is kept in. The outbox tells what was decided. */
const silenceWriters: readonly string[] = [
  'src/domain/silence.ts',
  'src/entities/conversation.ts',
  'src/entities/conversation-batch.ts',
];
const silenceTellers: readonly string[] = [...silenceWriters, 'src/events/outbox.ts'];

/** Writers of the silence of bots beside the one rule; here the contents of strings count, for they are statements. */
function findSilenceWriters(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!isInside('src', path) || isInside('src/migrations', path)) continue;
    const assigns = silenceFields.test(text) && !silenceWriters.includes(path);
    const states = silenceColumns.test(text) && !silenceTellers.includes(path);
    if (assigns || states) problems.push(`${path} writes the silence of bots, which src/domain/silence.ts decides`);
  }
  return problems;
}

const personRows = /\b(?:FROM|JOIN|INTO|UPDATE|USING|ONLY)\s+"?users\b/i;
/** What may read or change persons; all else knows seats, which are an account's own. */
const personReaders: Readonly<Record<string, string>> = {
  'src/database.ts': 'knows every entity',
  'src/domain/accounts.ts': 'makes persons: at the first start, and when an invitation is accepted',
  'src/domain/identity.ts': 'finds the person of an access token',
  'src/domain/seats.ts': 'lets a person sit in a seat',
  'src/domain/platform-users.ts': 'what platform administrators do with persons',
  'src/api/platform-users.ts': 'the same, for REST',
};

/** Readers of persons: an account must be told nothing of those who have not accepted its invitation. */
function findPersonReaders(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!isInside('src', path) || isInside('src/migrations', path) || personReaders[path]) continue;
    const imports = importsOf(path, text).some(({ target }) => target === 'src/entities/user.ts');
    if (imports || personRows.test(text)) problems.push(`${path} reads persons, where an account has seats`);
  }
  return problems;
}

/** Cycles in what is loaded; imports of types are erased before. */
function findCycles(sources: Sources): string[] {
  const problems: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    const seenAt = way.indexOf(path);
    if (seenAt !== -1) problems.push(`${[...way.slice(seenAt), path].join(' → ')} is a cycle`);
    const text = sources.get(path);
    if (seenAt !== -1 || text === undefined || done.has(path)) return;
    for (const { target, isFile, typeOnly } of importsOf(path, text)) {
      if (isFile && !typeOnly) visit(target, [...way, path]);
    }
    done.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
  return problems;
}

/** Files that are imported but missing, so that a typing error in a path cannot hide an import from the rules. */
function findLostImports(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    for (const { target, isFile } of importsOf(path, text)) {
      if (isFile && isInside('src', target) && !sources.has(target))
        problems.push(`${path} imports ${target}, which is missing`);
    }
  }
  return problems;
}

const rules = {
  'every file imports lower floors or its own folder only': findFloorProblems,
  'plugins and bots import the published bot API and their own files only': findPackageProblems,
  'what is fenced stays in its one file': findFenceProblems,
  'handlers and verbs have no database beside their transaction': findSecondConnections,
  'what alarms call are sweeps': findBareAlarms,
  [`no file has more than ${maxLines} lines`]: findSizeProblems,
  'the silence of bots is decided in one place': findSilenceWriters,
  'what an account is told of people comes from its seats': findPersonReaders,
  'imports make no cycle': findCycles,
  'every import leads somewhere': findLostImports,
};

/** [file, its text, what must be said about it], each planted among the real files. */
const planted: readonly [string, string, string][] = [
  [
    'src/lib/planted.ts',
    `import { send } from '../domain/messages.ts';`,
    'imports src/domain/messages.ts, which is not below',
  ],
  [
    'src/domain/planted.ts',
    `import type { Route } from '../http/route.ts';`,
    'imports src/http/route.ts, which is not below',
  ],
  [
    'src/engine/planted.ts',
    `export * from '../runtime/runner.ts';`,
    'imports src/runtime/runner.ts, which is not below',
  ],
  ['src/events/planted.ts', `await import('../domain/status.ts');`, 'imports src/domain/status.ts, which is not below'],
  ['src/entities/planted.ts', `import '../app.ts';`, 'imports src/app.ts, which is not below'],
  [
    'src/http/planted.ts',
    `import {\n  routes,\n} from '../api/index.ts';`,
    'imports src/api/index.ts, which is not below',
  ],
  ['bots/faq/planted.ts', `import { sql } from '../../src/lib/sql.ts';`, 'which is not the bot API'],
  ['bots/faq/planted.ts', `import { readFile } from 'node:fs/promises';`, 'which is not the bot API'],
  ['plugins/x/planted.ts', `import other from '../y/bot.ts';`, 'which is not the bot API'],
  ['src/domain/planted.ts', `const key = process.env.KEY;`, 'uses the environment'],
  ['src/domain/planted.ts', `const { KEY } = process['env'];`, 'uses the environment'],
  ['src/runtime/planted.ts', `import ivm from 'isolated-vm';`, 'uses isolated-vm'],
  ['src/runtime/planted.ts', `import { build } from 'esbuild';`, 'uses the bundler'],
  ['src/runtime/planted.ts', `import OpenAI from 'openai';`, 'uses the model client'],
  ['src/domain/planted.ts', `import { Agenda } from 'agenda';`, 'uses Agenda'],
  ['src/jobs/planted.ts', `import { PostgresBackend } from '@agendajs/postgres-backend';`, 'uses Agenda'],
  ['src/api/planted.ts', `import { request } from 'undici';`, 'uses outbound HTTP'],
  ['src/api/planted.ts', `await fetch(url);`, 'uses fetch'],
  ['src/domain/planted.ts', `const { createTransport } = await import('nodemailer');`, 'uses mail'],
  ['src/domain/planted.ts', `const now = Date.now();`, 'uses the clock'],
  ['src/domain/planted.ts', `const now = new Date();`, 'uses the clock'],
  ['src/domain/planted.ts', `const now = new Date;`, 'uses the clock'],
  ['src/domain/planted.ts', 'const text = `now: ${Date()}`;', 'uses the clock'],
  ['src/domain/planted.ts', `const luck = Math.random();`, 'uses randomness'],
  ['src/domain/planted.ts', `import { randomUUID } from 'node:crypto';`, 'uses randomness'],
  ['src/domain/planted.ts', `crypto.getRandomValues(bytes);`, 'uses randomness'],
  ['src/runtime/planted.ts', `import { runInNewContext } from 'node:vm';`, 'uses code from text'],
  ['src/runtime/planted.ts', `eval(text);`, 'uses code from text'],
  [
    'src/api/planted.ts',
    `import type { Database } from '../database.ts';`,
    'reaches the database beside its transaction',
  ],
  [
    'src/domain/planted.ts',
    `import { Database } from '../database.ts';`,
    'reaches the database beside its transaction',
  ],
  ['src/domain/planted.ts', `conversation.botSilence = null;`, 'writes the silence'],
  ['src/domain/planted.ts', `conversation.botStreak += 1;`, 'writes the silence'],
  ['src/domain/planted.ts', `conversation.humanSilence ??= 'human_replied';`, 'writes the silence'],
  ['src/domain/planted.ts', `Object.assign(conversation, { botSilence: null });`, 'writes the silence'],
  ['src/runtime/planted.ts', `conversation['botSilenceOf'] = 7;`, 'writes the silence'],
  ['src/domain/planted.ts', 'sql(em, `UPDATE conversations SET human_silence = NULL`);', 'writes the silence'],
  ['src/entities/planted.ts', 'const joins = `LEFT JOIN users u ON u.id = m.sender_id`;', 'reads persons'],
  ['src/domain/agents.ts', 'sql(em, `SELECT id\nFROM users WHERE email = $1`);', 'reads persons'],
  ['src/api/planted.ts', `import type { User } from '../entities/user.ts';`, 'reads persons'],
  ['src/alarms.ts', `import { send } from './domain/messages.ts';`, 'which is no sweep'],
  ['src/lib/planted.ts', 'const x = 1;\n'.repeat(maxLines + 1), `has ${maxLines + 1} lines`],
  ['src/lib/sql.ts', `import { prepared } from './prepared.ts';\nimport './sql.ts';`, 'is a cycle'],
  ['src/lib/planted.ts', `import './not-there.ts';`, 'is missing'],
];

/** Texts that only look like violations. */
const innocent: readonly [string, string][] = [
  ['src/domain/planted.ts', `// new Date() and Math.random() are fenced\nconst day = new Date(text);`],
  ['src/runtime/planted.ts', `export const isolateText = 'Date.now(); process.env; eval(1)';`],
  ['src/runtime/planted.ts', 'export const isolateText = `const now = Date.now(); \\`${name}\\` fetch(1)`;'],
  [
    'src/lib/planted.ts',
    `import { createHash } from 'node:crypto';\nconst quotes = /['"\`]/; const dates = prefetch(1);`,
  ],
  ['src/domain/planted.ts', `import { sql } from '../lib/sql.ts';\nimport { lockConversation } from './access.ts';`],
  ['src/domain/planted.ts', `if (conversation.botSilence === null || conversation.botStreak >= 20) return;`],
  ['src/domain/planted.ts', 'sql(em, `SELECT FROM seats u JOIN agents g ON g.user_id = u.id`); // not users'],
  ['bots/faq/planted.ts', `import { defineBot } from 'switchboard/bot';\nimport { words } from './words.ts';`],
  ['src/lib/planted.ts', 'const x = 1;\n'.repeat(maxLines)],
];

describe('architecture', () => {
  const sources = readSources(root, ['src', 'plugins', 'bots']);
  const findProblems = (files: Sources): string[] => Object.values(rules).flatMap((rule) => rule(files));

  it('is read as a whole', () => {
    expect(sources.size).to.be.above(100);
    expect([...sources.keys()]).to.include.members(['src/app.ts', 'src/lib/ports.ts', 'bots/faq/bot.ts']);
    for (const { only } of fences) if (only) expect([...sources.keys()]).to.include(only);
    expect([...sources.keys()]).to.include.members([...Object.keys(besideTransactions), ...Object.keys(personReaders)]);
  });

  for (const [title, rule] of Object.entries(rules)) {
    it(title, () => expect(rule(sources)).to.deep.equal([]));
  }

  it('a planted violation of each rule is found', () => {
    for (const [path, text, expected] of planted) {
      const problems = findProblems(new Map([...sources, [path, text]]));
      expect(problems.filter((problem) => problem.includes(path)).join('\n'), text).to.include(expected);
    }
  });

  it('a cycle over several files is found', () => {
    const problems = findCycles(
      new Map([
        ['src/lib/a.ts', `import './b.ts';`],
        ['src/lib/b.ts', `export { c } from './c.ts';`],
        ['src/lib/c.ts', `import { type A, a } from './a.ts';`],
      ]),
    );
    expect(problems).to.deep.equal(['src/lib/a.ts → src/lib/b.ts → src/lib/c.ts → src/lib/a.ts is a cycle']);
    expect(
      findCycles(
        new Map([
          ['src/lib/a.ts', `import { b } from './b.ts';`],
          ['src/lib/b.ts', `import type { A } from './a.ts';`],
        ]),
      ),
    ).to.deep.equal([]);
  });

  it('every fence sees what the file behind it does', () => {
    for (const { what, only } of fences) {
      if (only === null) continue;
      const elsewhere = new Map([['src/domain/elsewhere.ts', sources.get(only) ?? '']]);
      expect(findFenceProblems(elsewhere).join('\n')).to.include(`uses ${what},`);
    }
  });

  it('what only looks like a violation is let through', () => {
    const present = new Set(findProblems(sources));
    for (const [path, text] of innocent) {
      const problems = findProblems(new Map([...sources, [path, text], ['bots/faq/words.ts', '']]));
      expect(
        problems.filter((problem) => !present.has(problem)),
        text,
      ).to.deep.equal([]);
    }
  });
});
