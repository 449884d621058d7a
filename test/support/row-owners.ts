import { importsOf, isInside, type Sources } from './source-code.ts';

// Rules on which files may read or write which rows. They search the contents of strings too, since those are statements.

const silenceColumns = /\b(?:bot_silence|bot_silence_of|human_silence|bot_streak)\b/;
const silenceFields = /\b(?:botSilence|botSilenceOf|humanSilence|botStreak)['"]?\]?\s*(?::|[-+*?|&]*=(?![=>])|\+\+|--)/;
/** Files that may write the silence of bots: the rule and its rows. The outbox writes the decision of each event. */
const silenceWriters: readonly string[] = [
  'src/domain/conversations/silence.ts',
  'src/domain/conversations/status.ts',
  'src/records/conversations/conversation.ts',
  'src/records/conversations/locked.ts',
  'src/records/conversations/rows.ts',
  'src/records/conversations/held-changes.ts',
];
const silenceTellers: readonly string[] = [
  'src/deliveries/log/decisions.ts',
  ...silenceWriters,
  'src/deliveries/lanes/enqueue.ts',
  'src/deliveries/log/invariants.ts',
];

/** Writers of the silence of bots besides the one rule. */
export function findSilenceWriters(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!isInside('src', path) || isInside('src/postgres/migrations', path)) continue;
    const assigns = silenceFields.test(text) && !silenceWriters.includes(path);
    const states = silenceColumns.test(text) && !silenceTellers.includes(path);
    if (assigns || states)
      problems.push(`${path} writes the silence of bots, which src/domain/conversations/silence.ts decides`);
  }
  return problems;
}

const conversationWrites = /\b(?:UPDATE|INSERT\s+INTO|DELETE\s+FROM)\s+(?:ONLY\s+)?"?conversations\b/i;
/** Files that may write rows of conversations: those of the transaction; verbs change the objects that it hands out. */
const conversationWriters: readonly string[] = [
  'src/records/conversations/held-changes.ts',
  'src/records/conversations/held.ts',
  // A column for the ledger alone, which no object holds.
  'src/records/conversations/seen.ts',
];

/** Writers of conversations besides the transaction, whose commit would overwrite their change. */
export function findConversationWriters(sources: Sources): string[] {
  return [...sources]
    .filter(([path]) => isInside('src', path) && !isInside('src/postgres/migrations', path))
    .filter(([path, text]) => conversationWrites.test(text) && !conversationWriters.includes(path))
    .map(([path]) => `${path} writes conversations, which is for Transaction.conversation to do`);
}

const beginsTransaction = /\.transaction(?:al)?\(/;
/** Files that may begin transactions or savepoints: the base of all verbs, and mechanisms below it. */
const transactionBeginners: readonly string[] = ['src/events', 'src/engine', 'src/postgres'];

/** Transactions besides the base: they would lack its retries and its work after the commit. */
export function findTransactionBeginners(sources: Sources): string[] {
  return [...sources]
    .filter(([path]) => isInside('src', path) && !transactionBeginners.some((room) => isInside(room, path)))
    .filter(([, text]) => beginsTransaction.test(text))
    .map(([path]) => `${path} begins a transaction beside src/events/transaction.ts`);
}

const personRows = /\b(?:FROM|JOIN|INTO|UPDATE|USING|ONLY)\s+"?users\b/i;
/** Files that may read or change persons; all others know seats, which belong to an account. */
export const personReaders: Readonly<Record<string, string>> = {
  'src/records/entities.ts': 'lists every entity',
  'src/domain/audit/acts.ts': 'tells of a sign-in in each account that the person works in',
  'src/domain/people/users.ts': 'makes persons: at the first start, and when an invitation is accepted',
  'src/domain/people/identity.ts': 'finds the person of an access token',
  'src/domain/people/seats.ts': 'lets a person sit in a seat',
  'src/domain/people/sign-ins/passwords.ts': 'finds the person who signs in by an address',
  'src/domain/people/sign-ins/by-provider.ts':
    'finds the person with an address that the identity provider has verified',
  'src/domain/people/sign-ins/links.ts': 'finds the person who gets a link, whose address accounts are not told',
  'src/domain/people/sign-ins/second-factors.ts': 'knows who has access beyond an account',
  'src/domain/platform/users.ts': 'what platform administrators do with persons',
  'src/api/platform/users.ts': 'the same, for REST',
};

/** Readers of persons: an account must learn nothing of persons who have not accepted its invitation. */
export function findPersonReaders(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!isInside('src', path) || isInside('src/postgres/migrations', path) || personReaders[path]) continue;
    const imports = importsOf(path, text).some(({ target }) => target === 'src/records/user.ts');
    if (imports || personRows.test(text)) problems.push(`${path} reads persons, where an account has seats`);
  }
  return problems;
}

const queueRows =
  /\b(?:FROM|JOIN|INTO|UPDATE|USING|ONLY)\s+"?(?:lanes|deliveries|attempts|backlog_tasks)\b|['"`](?:lanes|attempts)['"`]/i;

/** Statements on lanes, deliveries and attempts outside of their room, which owns the lock order. */
export function findQueueStatements(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    const isHome = isInside('src/deliveries', path) || isInside('src/postgres/migrations', path);
    if (!isInside('src', path) || isHome || !queueRows.test(text)) continue;
    problems.push(`${path} speaks SQL of lanes, deliveries or attempts, which belong to src/deliveries`);
  }
  return problems;
}

const ordersLanes = /ORDER BY\s+(?:[\w.]+,\s*)*(?:\w+\.)?subject_(?:kind|id)\b/;

/** Statements that sort lanes in another order than the lock order, which could deadlock. */
export function findLaneOrders(sources: Sources): string[] {
  return [...sources]
    .filter(([path, text]) => isInside('src', path) && ordersLanes.test(text))
    .map(([path]) => `${path} orders lanes by itself, where src/deliveries/lanes/lock-order.ts says how`);
}
