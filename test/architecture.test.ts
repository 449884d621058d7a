import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBuriedExports, findCommentsWithoutSubject, findUpperCase } from './support/code-style.ts';
import { findCompatProblems } from './support/compat-rules.ts';
import { drawFloors, findSplitFolders, houseFloors, roomOf } from './support/floors.ts';
import { judgePlanted } from './support/judge-planted.ts';
import { findMapperUsers, findOwnWays, ownWays } from './support/own-ways.ts';
import { innocent, maxLibLines, maxLines, planted } from './support/planted-violations.ts';
import {
  findConversationWriters,
  findLaneOrders,
  findPersonReaders,
  findQueueStatements,
  findSilenceWriters,
  findTransactionBeginners,
  personReaders,
} from './support/row-owners.ts';
import { codeOf, importsOf, isInside, readSources, type Sources } from './support/source-code.ts';
import { findWebProblems } from './support/web-rules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const maxRootFiles = 4;
/** Files whose common first word is no noun. */
const flatWords: Readonly<Record<string, string>> = {
  'src/engine/send/to': 'the ways out, each named for what it leads to',
};
/** Files that may be longer, and why. */
const longFiles: Readonly<Record<string, string>> = {
  'src/postgres/migrations/20261120-first-schema.ts':
    'one migration is one list of statements, and is never changed once released',
};

/** Files of src/api and src/domain that may use the database outside of the transaction in which they are called. */
const besideTransactions: Readonly<Record<string, string>> = {
  'src/domain/upkeep/backlogs.ts': 'a sweep: each batch of deliveries or lanes is a transaction of its own',
  'src/domain/audit/chain.ts': 'a sweep: each batch of entries is chained by a transaction of its own',
  'src/domain/contacts/erasure.ts': 'a sweep: each batch of conversations is a transaction of its own',
  'src/domain/channels/checks.ts':
    'a sweep: the checks that are due are taken, and each is stored, by a statement of its own',
  'src/domain/hooks/settle.ts': 'a sweep: each page of requests is settled by a statement of its own',
  'src/domain/upkeep/hook-requests.ts': 'a sweep: each page of old requests goes by a statement of its own',
  'src/domain/upkeep/idempotency-keys.ts': 'a sweep: each batch of old answers goes in a transaction of its own',
  'src/domain/labels/renames.ts': 'a sweep: each batch of conversations is a transaction of its own',
  'src/domain/conversations/bulk-actions.ts': 'a sweep: each batch of conversations is a transaction of its own',
  'src/domain/endpoints/bulk-actions.ts': 'a sweep: each batch of deliveries is a transaction of its own',
  'src/domain/conversations/notifications.ts': 'a sweep: each notification is mailed by a transaction of its own',
  'src/domain/endpoints/digests.ts': 'a sweep: each account is mailed by a transaction of its own',
  'src/domain/endpoints/exhaustion.ts': 'a sweep: deliveries are told of batch by batch',
  'src/domain/endpoints/notices.ts': 'a sweep: each webhook is told of by a transaction of its own',
  'src/domain/endpoints/pauses.ts': 'a sweep: each endpoint is told of by a statement of its own',
  'src/domain/endpoints/recovery.ts': 'a sweep: each batch of deliveries is a transaction of its own',
  'src/domain/upkeep/activity-counts.ts': 'each batch is one statement, which counts and moves the mark',
  'src/domain/upkeep/conversation-counts.ts':
    'a sweep: the counts of an account, or of an inbox, are a statement of their own',
  'src/domain/upkeep/discarded-objects.ts': 'a sweep: the store is asked outside of any transaction',
  'src/domain/upkeep/unsent-files.ts':
    'a sweep: each batch of files without a message goes in a transaction of its own',
  'src/domain/upkeep/bundles.ts': 'a sweep: each batch of released code goes in a transaction of its own',
  'src/domain/upkeep/storage-expiry.ts': 'a sweep: each page of expired values goes by a statement of its own',
  'src/domain/upkeep/storage-totals.ts':
    'a sweep: what a bot stores in an account is added up by a statement of its own',
  'src/domain/articles/embeddings/embedder.ts':
    'asks servers, beside every transaction: each batch of passages is written by a statement of its own',
  'src/domain/upkeep/retention.ts': 'a sweep: each batch of old events goes in a transaction of its own',
  'src/domain/conversations/deadlines/breaches.ts': 'a sweep: each batch of conversations is a transaction of its own',
  'src/domain/bots/schedules.ts': 'a sweep: the due calls of an account are a transaction of their own',
  'src/domain/people/sign-ins/expiry.ts': 'a sweep: each batch of expired sign-ins goes by a statement of its own',
  'src/domain/conversations/deadlines/snoozes.ts': 'a sweep: each batch of conversations is a transaction of its own',
  'src/domain/upkeep/sweep.ts': 'what all sweeps have in common: it looks whether the database is there',
};

interface Fence {
  what: string;
  /** The only file that may; null for none. */
  only: string | null;
  /** A second file that may. */
  beside?: string;
  /** Modules by name. */
  modules?: RegExp;
  /** Code, without comments and contents of strings, which may be code for isolates. */
  code?: RegExp;
}

/** Fences: what only one file may use, so that it can be replaced, watched or stopped there. */
const fences: readonly Fence[] = [
  { what: 'the environment', only: 'src/config.ts', code: /\bprocess\s*\.\s*env\b|\bprocess\s*\[/ },
  { what: 'isolated-vm', only: 'src/sandbox/child/isolate.ts', modules: /^isolated-vm$/ },
  // esbuild-wasm has no file system; it may be loaded only in the process that reads one package, or builds the site.
  { what: 'the bundler', only: 'src/packages/read/bundle.ts', beside: 'src/site/build.ts', modules: /^esbuild/ },
  { what: 'the parser of code', only: 'src/cli/plugin/syntax-tree.ts', modules: /^@sveltejs\/acorn/ },
  { what: 'the model client', only: 'src/models/openai.ts', modules: /^openai(\/|$)/ },
  { what: 'the OpenID client', only: 'src/outbound/openid-provider.ts', modules: /^openid-client$/ },
  { what: 'Agenda', only: 'src/jobs/agenda.ts', modules: /^agenda$|^@agendajs\// },
  { what: 'outbound HTTP', only: 'src/outbound/connections.ts', modules: /^undici$/ },
  // Commands are clients of the running service, not parts of it.
  { what: 'fetch', only: 'src/lib/service-client.ts', code: /(?<![.\w])fetch\s*\((?!\w+\??: )/ },
  {
    what: 'the parser of forms',
    only: 'src/http/route/body/form-parts.ts',
    modules: /^koa-body$|^formidable$|^co-body$/,
  },
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
  // It compiles our own code for isolates, and nothing else.
  { what: 'the compiler', only: 'src/sandbox/child/isolate-code.ts', modules: /^(node:)?vm$/ },
  { what: 'code from text', only: null, modules: /^vm2$/, code: /(?<![.\w])eval\s*\(|\bnew\s+Function\b/ },
];

function findFloorProblems(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!isInside('src', path)) continue;
    const from = roomOf(path);
    if (from === null) problems.push(`${path} is on no floor`);
    for (const { target, isFile } of importsOf(path, text)) {
      const to = roomOf(target);
      if (!isFile || from === null || to === null || from.part === to.part || to.floor < from.floor) continue;
      problems.push(`${path} imports ${target}, which is not below`);
    }
  }
  return problems;
}

/** Files beside rooms: only a few names may be there, all others belong in a room. */
function findRootProblems(sources: Sources): string[] {
  const files = [...sources.keys()].filter((path) => /^src\/[^/]+$/.test(path));
  return files.length <= maxRootFiles ? [] : [`src/ holds ${files.join(', ')}: more than ${maxRootFiles} files`];
}

/** A noun with three flat files is a folder. */
function findFlatNouns(sources: Sources): string[] {
  const flat = [...sources.keys()].filter(
    (path) => isInside('src', path) && !isInside('src/postgres/migrations', path),
  );
  const byNoun = Map.groupBy(flat, (path) => {
    const [folder, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
    return `${folder}/${/^[^-.]+/.exec(name)?.[0]}`;
  });
  return [...byNoun]
    .filter(([noun, files]) => files.length > 2 && !flatWords[noun])
    .map(([noun, files]) => `${noun} is a folder: ${files.join(', ')}`);
}

/** The rooms that use each file of src/lib. */
function usersOfLib(sources: Sources): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>();
  for (const [path, text] of sources) {
    if (!isInside('src', path)) continue;
    for (const { target } of importsOf(path, text)) {
      if (isInside('src/lib', target))
        users.set(target, (users.get(target) ?? new Set()).add(path.split('/')[1] ?? ''));
    }
  }
  return users;
}

/** Files of src/lib that are too large, or that only one room uses: they belong in that room. */
function findLibProblems(sources: Sources): string[] {
  const problems: string[] = [];
  const users = usersOfLib(sources);
  for (const [path, text] of sources) {
    if (!isInside('src/lib', path)) continue;
    const lines = text.split('\n').length - 1;
    if (lines > maxLibLines) problems.push(`${path} has ${lines} lines: it deserves a room`);
    const rooms = users.get(path) ?? new Set();
    if (rooms.size < 2) problems.push(`${path} is used in ${[...rooms].join() || 'no room'} only`);
  }
  return problems;
}

function findPackageProblems(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!['plugins', 'bots', 'templates'].some((folder) => isInside(folder, path))) continue;
    const own = path.split('/').slice(0, 2).join('/');
    for (const { target, isFile } of importsOf(path, text)) {
      const isTest = isInside(`${own}/test`, path);
      const foreign = isTest ? /^(?:switchboard\/testing|node:(?:test|assert|path))$/ : /^switchboard\/bot$/;
      const allowed = isFile ? isInside(own, target) : foreign.test(target);
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
    for (const { what, only, beside, modules: names, code: pattern } of fences) {
      if (path === only || path === beside) continue;
      const named = names !== undefined && modules.some(({ target }) => names.test(target));
      if (named || pattern?.test(code)) problems.push(`${path} uses ${what}, which belongs to ${only ?? 'nobody'}`);
    }
  }
  return problems;
}

/** Second connections: one taken while a transaction holds the first waits for itself when the pool is used up. */
function findSecondConnections(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!isInside('src/api', path) && !isInside('src/domain', path)) continue;
    const reaches = importsOf(path, text).some(({ target }) => target === 'src/postgres/database.ts');
    if (reaches && !besideTransactions[path]) problems.push(`${path} reaches the database beside its transaction`);
  }
  return problems;
}

/** Recurring tasks that are no sweeps: a row that fails must not hold back the others, nor be tried again at full speed. */
function findBareAlarms(sources: Sources): string[] {
  const alarms = 'src/app/alarms.ts';
  return importsOf(alarms, sources.get(alarms) ?? '')
    .filter(({ target, isFile, typeOnly }) => isFile && !typeOnly && isInside('src/domain', target))
    .filter(({ target }) => {
      const imports = importsOf(target, sources.get(target) ?? '');
      return !imports.some((one) => one.target === 'src/domain/upkeep/sweep.ts');
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

// Exception: the first page of a walk over rows has no `after` yet (`after?.id ?? 0`).
const madeUpId = /(?<!after\?\.)\b(?:\w*Id|\w*_id|id)(?:\s*\?\?|\s*=)\s*0\b/;

/** Made-up identifiers where there may be none: they compile, and never find anything. */
function findMadeUpIds(sources: Sources): string[] {
  return [...sources]
    .filter(([path, text]) => isInside('src', path) && madeUpId.test(codeOf(text)))
    .map(([path]) => `${path} makes up an identifier`);
}

/** Cycles of imports, without imports of types, which are erased. */
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
  'the door of the house is small': findRootProblems,
  'a noun with three files is a folder': findFlatNouns,
  'lib holds what is small and has no neighbour': findLibProblems,
  'plugins and bots import the published bot API and their own files only': findPackageProblems,
  'what is fenced stays in its one file': findFenceProblems,
  'what runs in browsers speaks the contract, and makes nothing of the text that it shows': findWebProblems,
  'profiles translate, and nobody else knows of them': findCompatProblems,
  'handlers and verbs have no database beside their transaction': findSecondConnections,
  'what alarms call are sweeps': findBareAlarms,
  [`no file has more than ${maxLines} lines`]: findSizeProblems,
  'the silence of bots is decided in one place': findSilenceWriters,
  'conversations are written by their transaction only': findConversationWriters,
  'transactions have one base': findTransactionBeginners,
  'what an account is told of people comes from its seats': findPersonReaders,
  'lanes, deliveries and attempts have one room': findQueueStatements,
  'the lock order of lanes is written once': findLaneOrders,
  'no identifier is made up': findMadeUpIds,
  'small rows are read, locked and refused in one way': findOwnWays,
  'MikroORM is behind small rows, and in schema and migrations': findMapperUsers,
  'constants are in camelCase': findUpperCase,
  'files begin with what they export': findBuriedExports,
  'comments begin with what they are about': findCommentsWithoutSubject,
  'imports make no cycle': findCycles,
  'every import leads somewhere': findLostImports,
};

describe('architecture', () => {
  const sources = readSources(root, ['src', 'plugins', 'bots', 'templates', 'web']);
  const findProblems = (files: Sources): string[] => Object.values(rules).flatMap((rule) => rule(files));

  it('is read as a whole', () => {
    expect(sources.size).to.be.above(100);
    expect([...sources.keys()]).to.include.members(['src/app/compose.ts', 'src/lib/ports.ts', 'bots/faq/bot.ts']);
    for (const { only } of fences) if (only) expect([...sources.keys()]).to.include(only);
    const named = [besideTransactions, personReaders, ownWays].flatMap((files) => Object.keys(files));
    expect([...sources.keys()]).to.include.members(named);
  });

  for (const [title, rule] of Object.entries(rules)) {
    it(title, () => expect(rule(sources)).to.deep.equal([]));
  }

  it('a planted violation of each rule is found', function () {
    this.timeout(120_000);
    for (const { path, text, expected, problems } of judgePlanted(planted, sources, findProblems)) {
      const own = problems.filter((problem) => problem.includes(path)).join('\n');
      expect(own, text).to.include(expected.replaceAll('planted', basename(path, extname(path))));
    }
  });

  it('three flat files of a noun are found', () => {
    const files = ['label', 'label-list', 'label-search'].map((name) => [`src/domain/people/${name}.ts`, ''] as const);
    expect(findFlatNouns(new Map(files.slice(1)))).to.deep.equal([]);
    expect(findFlatNouns(new Map(files)).join()).to.include('src/domain/people/label is a folder');
  });

  it('no folder is on two floors', () => {
    expect(findSplitFolders(houseFloors)).to.deep.equal([]);
    expect(findSplitFolders([['deliveries/core'], ['events'], ['deliveries']])).to.include.members([
      'deliveries/core',
      'deliveries',
    ]);
    expect(houseFloors.length).to.be.at.most(13);
  });

  it('ARCHITECTURE.md shows the floors that are checked', () => {
    expect(readFileSync(`${root}ARCHITECTURE.md`, 'utf8')).to.include(drawFloors());
  });

  it('the style of code is the same beside src', () => {
    const beside = readSources(root, ['bench', 'bin', 'scripts']);
    const styles = [findUpperCase, findBuriedExports, findCommentsWithoutSubject];
    expect(styles.flatMap((style) => style(beside))).to.deep.equal([]);
    expect(findUpperCase(readSources(root, ['test']))).to.deep.equal([]);
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
    const helpers = new Map([...sources, ['bots/faq/words.ts', '']]);
    for (const { text, problems } of judgePlanted(innocent, helpers, findProblems))
      expect(
        problems.filter((problem) => !present.has(problem)),
        text,
      ).to.deep.equal([]);
  });
});
