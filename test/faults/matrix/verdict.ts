import type { Arrival, Disturbance, Evidence, ReceiverLog, Write } from './evidence.ts';

/** What the logs prove. Each list says one sentence per finding. */
export interface Verdict {
  /** Messages that were acknowledged, or found committed. */
  events: number;
  /** Deliveries that a receiver accepted, repetitions not counted. */
  delivered: number;
  /** Committed, and not accepted by a receiver; or acknowledged, and not committed. */
  lost: string[];
  /** Arrived or found without ever being committed. */
  ghosts: string[];
  /** Arrived before an earlier event of their conversation that had not failed often enough to be overtaken. */
  order: string[];
  /** Arrivals after the one that was accepted, which a disturbance at that moment explains. */
  explained: number;
  unexplained: string[];
}

/** Holds the logs of producers, of receivers and of a reader against each other. Pure. */
export function judge(evidence: Evidence): Verdict {
  const { writes, committed, receivers } = evidence;
  const wanted = new Set(committed);
  for (const { key, outcome } of writes) if (outcome === 'acknowledged') wanted.add(key);
  const repetitions = receivers.map((receiver) => judgeRepetitions(receiver, evidence));
  return {
    events: wanted.size,
    delivered: receivers.reduce((sum, { arrivals }) => sum + acceptedIds(arrivals).size, 0),
    lost: [...findGone(evidence), ...receivers.flatMap((receiver) => findLost(receiver, wanted))],
    ghosts: findGhosts(evidence),
    order: receivers.flatMap((receiver) => findDisorder(receiver, evidence)),
    explained: repetitions.reduce((sum, { explained }) => sum + explained, 0),
    unexplained: repetitions.flatMap(({ unexplained }) => unexplained),
  };
}

/** Whether nothing speaks against the service. */
export function isClean({ lost, ghosts, order, unexplained }: Verdict): boolean {
  return [lost, ghosts, order, unexplained].every(({ length }) => length === 0);
}

const isTaken = ({ reply }: Arrival): boolean => reply === 'accepted' || reply === 'cut';

function acceptedIds(arrivals: readonly Arrival[]): Set<string> {
  return new Set(arrivals.filter(isTaken).map(({ webhookId }) => webhookId));
}

function findGone({ writes, committed }: Evidence): string[] {
  return writes
    .filter(({ key, outcome }) => outcome === 'acknowledged' && !committed.has(key))
    .map(({ key }) => `"${key}" was acknowledged and is not in the feed`);
}

function findLost({ name, arrivals }: ReceiverLog, wanted: ReadonlySet<string>): string[] {
  const taken = new Set(arrivals.filter(isTaken).map(({ key }) => key));
  return [...wanted].filter((key) => !taken.has(key)).map((key) => `"${key}" never reached ${name}`);
}

function findGhosts({ writes, committed, receivers }: Evidence): string[] {
  const outcomes = new Map(writes.map(({ key, outcome }) => [key, outcome]));
  const isReal = (key: string): boolean => {
    const outcome = outcomes.get(key);
    return outcome === 'acknowledged' || (outcome === 'unknown' && committed.has(key));
  };
  const found = [...committed].filter((key) => !isReal(key)).map((key) => `"${key}" is in the feed`);
  const arrived = receivers.flatMap(({ name, arrivals }) =>
    arrivals.flatMap(({ key }) => (key === null || isReal(key) ? [] : [`"${key}" reached ${name}`])),
  );
  return [...found, ...arrived].map((sentence) => `${sentence} and was never committed`);
}

function findDisorder({ name, arrivals }: ReceiverLog, evidence: Evidence): string[] {
  const lanes = Map.groupBy(
    arrivals.filter(({ conversation }) => conversation !== null),
    ({ conversation }) => conversation,
  );
  const written = Map.groupBy(evidence.writes, ({ conversation }) => conversation);
  return [...lanes].flatMap(([conversation, lane]) => {
    const where = `${name}, conversation ${conversation}`;
    const overtakings = findOvertakings(lane, evidence.holdAttempts);
    return [...overtakings, ...findSwaps(lane, written.get(conversation ?? 0) ?? [])].map(
      (text) => `${where}: ${text}`,
    );
  });
}

// What is numbered by the service must be numbered as its writer wrote it.
function findSwaps(lane: readonly Arrival[], written: readonly Write[]): string[] {
  const numbers = new Map(lane.map(({ key, sequence }) => [key, sequence]));
  const acknowledged = written.filter(({ key, outcome }) => outcome === 'acknowledged' && numbers.has(key));
  const numbered = acknowledged.map(({ key }) => ({ key, sequence: numbers.get(key) ?? 0 }));
  return numbered.flatMap(({ key, sequence }, index) => {
    const before = numbered[index - 1];
    return before && before.sequence >= sequence ? [`"${key}" was written after "${before.key}"`] : [];
  });
}

interface Seen {
  /** Its first arrival's place in the lane. */
  place: number;
  /** The highest sequence up to here. */
  highest: number;
  arrival: Arrival;
}

function findOvertakings(lane: readonly Arrival[], holdAttempts: number): string[] {
  const seen: Seen[] = [];
  const known = new Set<string>();
  const done = new Set<string>();
  const problems: string[] = [];
  for (const [place, arrival] of lane.entries()) {
    if (!known.has(arrival.webhookId)) {
      const highest = Math.max(arrival.sequence, seen.at(-1)?.highest ?? 0);
      seen.push({ place, highest, arrival });
      known.add(arrival.webhookId);
    }
    if (!isTaken(arrival) || done.has(arrival.webhookId)) continue;
    done.add(arrival.webhookId);
    const overtaker = firstBeyond(seen, arrival.sequence);
    if (overtaker && !mayOvertake(lane, overtaker, { arrival, holdAttempts }))
      problems.push(`event ${overtaker.arrival.sequence} came before event ${arrival.sequence}`);
  }
  return problems;
}

// `highest` only grows.
function firstBeyond(seen: readonly Seen[], sequence: number): Seen | undefined {
  let [low, high] = [0, seen.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((seen[middle]?.highest ?? 0) > sequence) high = middle;
    else low = middle + 1;
  }
  return seen[low];
}

// The receiver has seen it fail so often; or, where it sees no attempts, the number of the next one tells how many there were.
function mayOvertake(
  lane: readonly Arrival[],
  { place }: Seen,
  { arrival, holdAttempts }: { arrival: Arrival; holdAttempts: number },
): boolean {
  const own = lane.map((one, at) => ({ one, at })).filter(({ one }) => one.webhookId === arrival.webhookId);
  const failed = own.filter(({ at }) => at < place).length;
  const next = own.find(({ at }) => at > place)?.one;
  return failed >= holdAttempts || (next?.attempt ?? 0) > holdAttempts;
}

function judgeRepetitions(
  { name, arrivals }: ReceiverLog,
  { disturbances, overdue, mostInFlight }: Evidence,
): { explained: number; unexplained: string[] } {
  const left = new Map(disturbances.map((disturbance) => [disturbance, mostInFlight]));
  const unexplained: string[] = [];
  let explained = 0;
  for (const [webhookId, came] of Map.groupBy(arrivals, (arrival) => arrival.webhookId)) {
    const taken = came.findIndex(isTaken);
    const first = came[taken];
    if (!first) continue;
    for (const repetition of came.slice(taken + 1)) {
      const cause = disturbances.find((one) => (left.get(one) ?? 0) > 0 && liesBetween(one, first, repetition));
      if (cause) left.set(cause, (left.get(cause) ?? 0) - 1);
      if (cause || first.reply === 'cut' || overdue.has(webhookId)) explained += 1;
      else unexplained.push(`${name} got ${webhookId} ("${repetition.key ?? repetition.event}") again`);
    }
  }
  return { explained, unexplained };
}

function liesBetween({ from, until }: Disturbance, first: Arrival, repetition: Arrival): boolean {
  return until >= first.at && from <= repetition.at;
}
