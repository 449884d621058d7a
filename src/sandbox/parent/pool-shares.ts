import { FairQueue, type Owner } from './fair-queue.ts';
import { Paces, type EndOfRun } from './paces.ts';

/** Kind of the plugin whose run it is: each has a share of the children. */
export type ShareKind = 'bot' | 'automation' | 'channel';

interface QueuedRun {
  owner: Owner;
  kind: ShareKind;
}

/** The runs of a kind that is no bot. */
interface Share<Run extends QueuedRun> {
  kind: ShareKind;
  queue: FairQueue<Run>;
  underWay: number;
}

/** The children that were started, and how many are to be left for quick bots, of those that there may be. */
interface Children {
  started: number;
  reserve: number;
  most: number;
}

/** The part of the children that automations, and channels, may occupy; at least one child. */
const otherPart = 0.25;
/** While others wait, one of them gets the turn after this many runs of bots. */
const botsInTurn = 4;

/**
 * Decides whose run gets a free child. Bots go first: customers wait for them. Automations and channels take turns, occupy a part
 * of the children each at most, and never one that is reserved for quick bots; each kind has a queue of its own, so that none
 * crowds out another.
 */
export class PoolShares<Run extends QueuedRun> {
  readonly #bots: FairQueue<Run>;
  readonly #paces = new Paces();
  /** The next in turn first. */
  #others: readonly Share<Run>[];
  #botsSince = 0;

  /** `limit`: runs of each kind that may wait. */
  constructor(limit: number) {
    this.#bots = new FairQueue(limit);
    this.#others = (['automation', 'channel'] as const).map((kind) => ({
      kind,
      queue: new FairQueue(limit),
      underWay: 0,
    }));
  }

  get size(): number {
    return this.#bots.size + this.#othersWaiting;
  }

  get #othersWaiting(): number {
    return this.#others.reduce((sum, { queue }) => sum + queue.size, 0);
  }

  get #othersUnderWay(): number {
    return this.#others.reduce((sum, { underWay }) => sum + underWay, 0);
  }

  /** See `add` of FairQueue. */
  add(run: Run, takeNow: () => void, place: { first?: boolean }): Run | null {
    return (this.#shareOf(run)?.queue ?? this.#bots).add(run, takeNow, place);
  }

  /** Removes and returns the run that gets the next free child; null when it is left free. */
  takeNext(children: Children): Run | null {
    const isOthersTurn = this.#botsSince >= botsInTurn;
    const first = isOthersTurn ? this.#takeOther(children) : this.#takeBot(children);
    return first ?? (isOthersTurn ? this.#takeBot(children) : this.#takeOther(children));
  }

  /** To be called when a run begins in a child; the returned function when it has ended. */
  begin(run: Run): (end: EndOfRun) => void {
    const share = this.#shareOf(run);
    if (!share) return this.#paces.begin(run.owner);
    share.underWay += 1;
    return () => void (share.underWay -= 1);
  }

  /** Empties the queues and returns their runs. */
  drain(): Run[] {
    return [this.#bots, ...this.#others.map(({ queue }) => queue)].flatMap((queue) => queue.drain());
  }

  #shareOf({ kind }: Run): Share<Run> | undefined {
    return this.#others.find((share) => share.kind === kind);
  }

  // A reserved child is for whoever may take the reserve first, and otherwise for an account that occupies none: being slow
  // costs a place in the turn, and never the turn.
  #takeBot({ started, reserve }: Children): Run | null {
    const isReserved = this.#paces.unproven >= started - this.#othersUnderWay - reserve;
    const taken =
      this.#bots.take((owner) => !isReserved || this.#paces.mayTakeReserve(owner)) ??
      this.#bots.take(({ account }) => !this.#paces.isUnderWay(account));
    if (taken && this.#othersWaiting > 0) this.#botsSince += 1;
    return taken;
  }

  #takeOther({ started, reserve, most }: Children): Run | null {
    if (this.#paces.unproven + this.#othersUnderWay >= started - reserve) return null;
    const mostOfKind = Math.max(1, Math.floor(most * otherPart));
    for (const share of this.#others) {
      const taken = share.underWay < mostOfKind ? share.queue.take(() => true) : null;
      if (!taken) continue;
      this.#others = [...this.#others.filter((other) => other !== share), share];
      this.#botsSince = 0;
      return taken;
    }
    return null;
  }
}
