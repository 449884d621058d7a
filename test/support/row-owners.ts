import { importsOf, isInside, type Sources } from './source-code.ts';

// Rules on who may read or write which rows: the contents of strings count in all of them, for they are statements.

const silenceColumns = /\b(?:bot_silence|bot_silence_of|human_silence|bot_streak)\b/;
const silenceFields = /\b(?:botSilence|botSilenceOf|humanSilence|botStreak)['"]?\]?\s*(?::|[-+*?|&]*=(?![=>])|\+\+|--)/;
/** Who may write what silences bots: the rule, and the rows it is kept in. The outbox tells what was decided. */
const silenceWriters: readonly string[] = [
  'src/domain/conversations/silence.ts',
  'src/records/conversation.ts',
  'src/records/conversation-rows.ts',
  'src/records/held-conversations.ts',
];
const silenceTellers: readonly string[] = [...silenceWriters, 'src/deliveries/queue/enqueue.ts'];

/** Writers of the silence of bots beside the one rule; here the contents of strings count, for they are statements. */
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
/** Who may write rows of conversations: what a transaction holds, for all else changes the objects that it hands out. */
const conversationWriters: readonly string[] = [
  'src/records/conversation-rows.ts',
  'src/records/held-conversations.ts',
];

/** Writers of conversations beside the transaction, whose change the commit would undo; strings count here, too. */
export function findConversationWriters(sources: Sources): string[] {
  return [...sources]
    .filter(([path]) => isInside('src', path) && !isInside('src/postgres/migrations', path))
    .filter(([path, text]) => conversationWrites.test(text) && !conversationWriters.includes(path))
    .map(([path]) => `${path} writes conversations, which is for Transaction.conversation to do`);
}

const beginsTransaction = /\.transactional\(/;
/** Who may begin transactions or savepoints: the base of all that verbs run in, and mechanisms that know no verb. */
const transactionBeginners: readonly string[] = ['src/events', 'src/deliveries', 'src/postgres'];

/** Transactions beside the base, which would know neither its loop nor what follows its commit. */
export function findTransactionBeginners(sources: Sources): string[] {
  return [...sources]
    .filter(([path]) => isInside('src', path) && !transactionBeginners.some((room) => isInside(room, path)))
    .filter(([, text]) => beginsTransaction.test(text))
    .map(([path]) => `${path} begins a transaction beside src/events/transaction.ts`);
}

const personRows = /\b(?:FROM|JOIN|INTO|UPDATE|USING|ONLY)\s+"?users\b/i;
/** What may read or change persons; all else knows seats, which are an account's own. */
export const personReaders: Readonly<Record<string, string>> = {
  'src/records/entities.ts': 'lists every entity',
  'src/domain/people/users.ts': 'makes persons: at the first start, and when an invitation is accepted',
  'src/domain/people/identity.ts': 'finds the person of an access token',
  'src/domain/people/seats.ts': 'lets a person sit in a seat',
  'src/domain/platform/users.ts': 'what platform administrators do with persons',
  'src/api/platform/users.ts': 'the same, for REST',
};

/** Readers of persons: an account must be told nothing of those who have not accepted its invitation. */
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

/** Statements on lanes, deliveries and attempts outside their room: each would have to know their lock order. */
export function findQueueStatements(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    const isHome = isInside('src/deliveries/queue', path) || isInside('src/postgres/migrations', path);
    if (!isInside('src', path) || isHome || !queueRows.test(text)) continue;
    problems.push(`${path} speaks SQL of lanes, deliveries or attempts, which belong to src/deliveries/queue`);
  }
  return problems;
}

const ordersLanes = /ORDER BY\s+(?:[\w.]+,\s*)*(?:\w+\.)?subject_(?:kind|id)\b/;

/** Statements that put lanes into an order of their own: two orders of locking are a deadlock. */
export function findLaneOrders(sources: Sources): string[] {
  return [...sources]
    .filter(([path, text]) => isInside('src', path) && ordersLanes.test(text))
    .map(([path]) => `${path} orders lanes by itself, where src/deliveries/queue/lock-order.ts says how`);
}
