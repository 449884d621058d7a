import { computingMsOf, runBounds } from '../run.ts';
import type { HostCall, LogLine, RecordedCall, RunRequest } from '../run.ts';
import type { CallRequest, Round } from '../wire.ts';
import { HeldAnswers } from './held-answers.ts';
import { answerCalls, boundedRequest } from './host-calls.ts';
import { recallAnswers } from './recall.ts';

/** An answered round of calls; or the permission that one of them lacked. */
export type Answered = { answers: string } | { forbidden: string };

/** The computing time of all executions of a run together, as a multiple of that of one execution. */
const executionsOfComputing = 2;

/**
 * State of a run that survives a change of its child process. A run that waits for the service occupies no child: with the
 * answers it is executed again from its start, with the same input, and arrives where it was.
 */
export class OngoingRun {
  readonly request: RunRequest;
  /** The JSON for the isolate. */
  readonly input: string;
  /** The answers so far: they are large, and kept nowhere else. */
  readonly rounds: Round[] = [];
  readonly #asks: Omit<RecordedCall, 'output'>[][] = [];
  readonly #hostCalls: Readonly<Record<string, HostCall>>;
  readonly #held: HeldAnswers;
  readonly #abort = new AbortController();
  readonly #giving = Promise.withResolvers<string>();
  #logs: LogLine[] = [];
  #charsLeft: number = runBounds.runOutputChars;
  #computedMs = 0;
  #asked = 0;
  #hasEnded = false;
  /** Milliseconds in children and in waits, without those in the queue. */
  spentMs = 0;
  /** Milliseconds of those in which a child could not compute, because the machine was busy. */
  stalledMs = 0;
  cpuMs = 0;

  /** Why the run gave up its answers and cannot go on; null when it did not. */
  whyItGaveWay: string | null = null;

  constructor(
    request: RunRequest,
    input: string,
    hostCalls: Readonly<Record<string, HostCall>>,
    held = new HeldAnswers(),
  ) {
    this.#held = held;
    this.request = request;
    this.input = input;
    this.#hostCalls = { ...hostCalls, ...request.hostCalls };
  }

  get account(): number {
    return this.request.owner.account;
  }

  /** Resolves when the run gives way, with the reason. */
  get gaveWay(): Promise<string> {
    return this.#giving.promise;
  }

  /** Frees the answers and aborts calls: the memory is needed by others. */
  giveWay(reason: string): void {
    this.whyItGaveWay = reason;
    this.rounds.length = 0;
    this.#asks.length = 0;
    this.#abort.abort();
    this.#giving.resolve(reason);
  }

  /** The answered calls, with the answers as the bot got them. */
  get calls(): RecordedCall[] {
    return this.#asks.flatMap((asks, round) => {
      const answers = JSON.parse(this.rounds[round]?.answers ?? '[]') as { value?: unknown }[];
      return asks.map((ask, at) => (ask.error ? ask : { ...ask, output: answers[at]?.value ?? null }));
    });
  }

  /** The log so far: of the execution that wrote the most. */
  get logs(): LogLine[] {
    return this.#logs;
  }

  /** Adds what an execution took and wrote. */
  addExecution({ logs, cpuMs, wallMs }: { logs: LogLine[]; cpuMs: number; wallMs: number }): void {
    if (logs.length >= this.#logs.length) this.#logs = logs;
    this.cpuMs += cpuMs;
    this.spentMs += wallMs;
  }

  /** Counts the time of a slice. */
  addSlice({ computedMs, stalledMs }: { computedMs: number; stalledMs: number }): void {
    this.#computedMs += computedMs;
    this.stalledMs += stalledMs;
  }

  /** The computing time of all executions so far. */
  get computedMs(): number {
    return this.#computedMs;
  }

  /** The computing time that the next execution may take. */
  get computingLeftMs(): number {
    const whole = computingMsOf(this.request.limits);
    return Math.max(0, Math.min(whole, whole * executionsOfComputing - this.#computedMs));
  }

  /** The rest of the time that the run may take: stalls are not its own doing and do not count. */
  get wallLeftMs(): number {
    return this.request.limits.wallMs - this.spentMs + this.stalledMs;
  }

  /** Whether a child may report these requests; the isolate counts them too. */
  mayAsk(requests: readonly CallRequest[]): boolean {
    return requests.length > 0 && this.#asked + requests.length <= runBounds.calls;
  }

  /** Performs a round of calls and records them. Never rejects: nobody would notice but the whole process. */
  async answer(requests: readonly CallRequest[], digest: string): Promise<Answered> {
    this.#asked += requests.length;
    const answered = await this.#perform(requests).catch((error: unknown) => ({
      forbidden: `The call cannot be answered: ${String(error)}`,
    }));
    if ('forbidden' in answered) return answered;
    const { answers, calls } = answered;
    this.#charsLeft -= answers.length;
    if (this.whyItGaveWay !== null) return { forbidden: this.whyItGaveWay };
    this.#asks.push(calls.map(({ name, input, error, ms }) => ({ name, input, ms, ...(error ? { error } : {}) })));
    this.rounds.push({ digest, answers });
    return { answers };
  }

  async #perform(requests: readonly CallRequest[]): ReturnType<typeof answerCalls> {
    const { request: run, signal } = this;
    const { recall } = run;
    const asked = requests.map(boundedRequest);
    if (recall) return (await recallAnswers(asked, recall)) ?? { forbidden: 'The record has no answer to this call' };
    if (this.#asks.length === 0) this.#hold(this.input.length);
    const hold = (chars: number): void => this.#hold(chars);
    return answerCalls(asked, { hostCalls: this.#hostCalls, run, signal, charsLeft: this.#charsLeft, hold });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Aborts calls that are still under way, and lets others have the memory. */
  end(): void {
    this.#hasEnded = true;
    this.#abort.abort();
    this.#held.release(this);
  }

  #hold(chars: number): void {
    if (!this.#hasEnded && this.whyItGaveWay === null) this.#held.hold(this, chars);
  }
}
