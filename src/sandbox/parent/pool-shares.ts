import { FairQueue, type Owner } from './fair-queue.ts';
import { Paces, type EndOfRun } from './paces.ts';

interface QueuedRun {
  owner: Owner;
  kind: 'bot' | 'automation';
}

/** The children that were started, and how many are to be left for quick bots, of those that there may be. */
interface Children {
  started: number;
  reserve: number;
  most: number;
}

/** The part of the children that automations may occupy; at least one child. */
const automationPart = 0.25;
/** While automations wait, one of them gets the turn after this many runs of bots. */
const botsInTurn = 4;

/**
 * Decides whose run gets a free child. Bots go first: customers wait for them. Automations occupy a part of the children at
 * most, and never one that is reserved for quick bots; each kind has a queue of its own, so that neither crowds out the other.
 */
export class PoolShares<Run extends QueuedRun> {
  readonly #bots: FairQueue<Run>;
  readonly #automations: FairQueue<Run>;
  readonly #paces = new Paces();
  #automationsUnderWay = 0;
  #botsSince = 0;

  /** `limit`: runs of each kind that may wait. */
  constructor(limit: number) {
    this.#bots = new FairQueue(limit);
    this.#automations = new FairQueue(limit);
  }

  get size(): number {
    return this.#bots.size + this.#automations.size;
  }

  /** See `add` of FairQueue. */
  add(run: Run, takeNow: () => void, place: { first?: boolean }): Run | null {
    return (run.kind === 'bot' ? this.#bots : this.#automations).add(run, takeNow, place);
  }

  /** Removes and returns the run that gets the next free child; null when it is left free. */
  takeNext(children: Children): Run | null {
    const isAutomationsTurn = this.#botsSince >= botsInTurn;
    const first = isAutomationsTurn ? this.#takeAutomation(children) : this.#takeBot(children);
    return first ?? (isAutomationsTurn ? this.#takeBot(children) : this.#takeAutomation(children));
  }

  /** To be called when a run begins in a child; the returned function when it has ended. */
  begin({ owner, kind }: Run): (end: EndOfRun) => void {
    if (kind === 'bot') return this.#paces.begin(owner);
    this.#automationsUnderWay += 1;
    return () => void (this.#automationsUnderWay -= 1);
  }

  /** Empties the queues and returns their runs. */
  drain(): Run[] {
    return [...this.#bots.drain(), ...this.#automations.drain()];
  }

  // A reserved child is for whoever may take the reserve first, and otherwise for an account that occupies none: being slow
  // costs a place in the turn, and never the turn.
  #takeBot({ started, reserve }: Children): Run | null {
    const isReserved = this.#paces.unproven >= started - this.#automationsUnderWay - reserve;
    const taken =
      this.#bots.take((owner) => !isReserved || this.#paces.mayTakeReserve(owner)) ??
      this.#bots.take(({ account }) => !this.#paces.isUnderWay(account));
    if (taken && this.#automations.size > 0) this.#botsSince += 1;
    return taken;
  }

  #takeAutomation({ started, reserve, most }: Children): Run | null {
    if (this.#automationsUnderWay >= Math.max(1, Math.floor(most * automationPart))) return null;
    if (this.#paces.unproven + this.#automationsUnderWay >= started - reserve) return null;
    const taken = this.#automations.take(() => true);
    if (taken) this.#botsSince = 0;
    return taken;
  }
}
