import { ApiError, busy } from '../../../errors.ts';
import { FairGate, type Party } from './fair-gate.ts';

/** The limits of forms with files. */
export interface UploadBounds {
  /** Forms in memory at the same time: in all, of one account, of visitors, and of visitors at one address. */
  places: number;
  perAccount: number;
  ofVisitors: number;
  perAddress: number;
  /** The longest time in which nothing of a form arrives, in milliseconds. */
  stallMs: number;
  /** Slower forms are ended when somebody waits for their place. */
  bytesPerSecond: number;
}

/** The sender of a form; visitors with the address that they come from. */
export interface Uploader {
  accountId: number;
  visitorAt: string | null;
}

/** A form that arrives. */
export interface Arrival {
  /** Notes that more of it has arrived. */
  took: (bytes: number) => void;
  /** Notes that all of it has arrived. */
  arrived: () => void;
  /** Rejects when the form is given up. */
  readonly givenUp: Promise<never>;
}

/** Milliseconds after which a waiting sender has a slow form given up, and between two such forms. */
const lookMs = 2_000;
/** A form is not judged before. */
const graceMs = 1_000;

/**
 * Limits how many forms with files are in memory at the same time. Nobody's slow form keeps others out: one of which nothing
 * arrives any more is given up, and while somebody waits for a place the slowest of those that could make it free, if that is
 * slow. Errors: 503 `busy`, 408 `upload_stalled`.
 */
export class UploadGate {
  readonly #bounds: UploadBounds;
  readonly #gate: FairGate;
  readonly #inside = new Set<Form>();

  constructor(bounds: UploadBounds) {
    this.#bounds = bounds;
    this.#gate = new FairGate(bounds.places);
  }

  /** Runs the work, which reads a form, when there is a place for it. */
  async run<Result>(uploader: Uploader, work: (arrival: Arrival) => Promise<Result>): Promise<Result> {
    const parties = this.#partiesOf(uploader);
    const looking = setInterval(() => this.#makeRoom(parties), lookMs);
    try {
      return await this.#gate.run(parties, () => {
        clearInterval(looking);
        return this.#hold(parties, work);
      });
    } finally {
      clearInterval(looking);
    }
  }

  #partiesOf({ accountId, visitorAt }: Uploader): Party[] {
    const { perAccount, ofVisitors, perAddress } = this.#bounds;
    const account = { name: `account ${accountId}`, most: perAccount };
    if (visitorAt === null) return [account];
    // Leaves one place to the account's agents.
    const visitors = { name: `visitors of account ${accountId}`, most: Math.max(1, perAccount - 1) };
    const all = { name: 'visitors', most: ofVisitors, isCrowd: true } as const;
    return [account, visitors, all, { name: `address ${visitorAt}`, most: perAddress }];
  }

  async #hold<Result>(parties: readonly Party[], work: (arrival: Arrival) => Promise<Result>): Promise<Result> {
    const form = new Form(parties, this.#bounds.stallMs);
    this.#inside.add(form);
    try {
      return await work(form);
    } finally {
      form.arrived();
      this.#inside.delete(form);
    }
  }

  // Gives up one form at most: a waiting sender costs only one other.
  #makeRoom(parties: readonly Party[]): void {
    const crowded = parties.filter(({ name, most }) => this.#held(name) >= most);
    const inWay = (form: Form) => crowded.length === 0 || crowded.some(({ name }) => form.isOf(name));
    const slow = [...this.#inside].filter((form) => inWay(form) && form.pace < this.#bounds.bytesPerSecond);
    slow.sort((one, other) => one.pace - other.pace)[0]?.giveUp(busy());
  }

  #held(name: string): number {
    return [...this.#inside].filter((form) => form.isOf(name)).length;
  }
}

class Form implements Arrival {
  readonly #names: ReadonlySet<string>;
  readonly #gaveUp = Promise.withResolvers<never>();
  readonly #since = performance.now();
  readonly #stalled: NodeJS.Timeout;
  #bytes = 0;
  #isArriving = true;

  constructor(parties: readonly Party[], stallMs: number) {
    this.#names = new Set(parties.map(({ name }) => name));
    this.#stalled = setTimeout(() => this.giveUp(stalled(stallMs)), stallMs);
    // Prevents an unhandled rejection: nobody may be reading the form yet.
    this.#gaveUp.promise.catch(() => undefined);
  }

  get givenUp(): Promise<never> {
    return this.#gaveUp.promise;
  }

  /** In bytes per second; Infinity for one that has arrived, is given up, or has just begun. */
  get pace(): number {
    const ms = performance.now() - this.#since;
    return this.#isArriving && ms >= graceMs ? (this.#bytes / ms) * 1000 : Infinity;
  }

  isOf(name: string): boolean {
    return this.#names.has(name);
  }

  took(bytes: number): void {
    this.#bytes += bytes;
    if (this.#isArriving) this.#stalled.refresh();
  }

  arrived(): void {
    this.#isArriving = false;
    clearTimeout(this.#stalled);
  }

  giveUp(reason: ApiError): void {
    this.arrived();
    // The rest of the body is unread, therefore the connection carries no other request.
    const headers = { ...reason.headers, connection: 'close' };
    this.#gaveUp.reject(new ApiError(reason.status, reason.code, reason.message, { headers }));
  }
}

function stalled(ms: number): ApiError {
  return new ApiError(408, 'upload_stalled', `Nothing more of the form arrived for ${ms / 1000} s: send it again`);
}
