/** A step of a start. */
interface Phase {
  name: string;
  /** Said while the step takes long. */
  sentence: string | null;
  /** Milliseconds since the process began. */
  begin: number;
  end: number | null;
  /** Steps whose results it needs. */
  after: readonly string[];
}

export interface PhaseOptions {
  /** The sentence for whoever waits. */
  sentence?: string;
  /** Names of the phases whose results it needs. */
  after?: readonly string[];
}

const patienceMs = 1_000;

/** The phases of a start: measures them, and says what goes on while one takes longer than a second. */
export class StartPhases {
  readonly #say: (line: string) => void;
  readonly #phases: Phase[] = [];
  readonly #said = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  /** `say` prints a line. */
  constructor(say: (line: string) => void) {
    this.#say = say;
    this.#timer = setInterval(() => this.#sayWhatGoesOn(), patienceMs).unref();
  }

  /** Does the work of a phase; returns its result. */
  async run<Result>(name: string, work: () => Promise<Result> | Result, options: PhaseOptions = {}): Promise<Result> {
    const { sentence = null, after = [] } = options;
    const phase: Phase = { name, sentence, after, begin: performance.now(), end: null };
    this.#phases.push(phase);
    try {
      return await work();
    } finally {
      phase.end = performance.now();
    }
  }

  /** Ends the reports; returns the phases as a table: begin, duration, and the phase that each waited for. */
  end(): string {
    clearInterval(this.#timer);
    const rows = this.#phases.map((phase) => [
      phase.name,
      milliseconds(phase.begin),
      phase.end === null ? 'goes on' : milliseconds(phase.end - phase.begin),
      this.#lastBefore(phase),
    ]);
    const header = ['phase', 'begin', 'duration', 'waited for'];
    const widths = header.map((title, column) =>
      Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0), title.length),
    );
    return [header, ...rows]
      .map((row) =>
        row
          .map((text, column) => text.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd(),
      )
      .join('\n');
  }

  // The one that ended last of those whose results a phase needs.
  #lastBefore({ after }: Phase): string {
    const ended = this.#phases.filter(({ name }) => after.includes(name));
    return (
      ended.reduce<Phase | null>((last, one) => ((one.end ?? 0) > (last?.end ?? -1) ? one : last), null)?.name ?? ''
    );
  }

  #sayWhatGoesOn(): void {
    for (const { name, sentence, begin, end } of this.#phases) {
      if (sentence === null || end !== null || this.#said.has(name) || performance.now() - begin < patienceMs) continue;
      this.#said.add(name);
      this.#say(sentence);
    }
  }
}

function milliseconds(value: number): string {
  return `${Math.round(value)} ms`;
}
