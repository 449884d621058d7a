import { systemClock, type Clock } from '../../lib/ports.ts';

const width = 30;
/** The pause between two lines where the output is no terminal. */
const lineMs = 60_000;

/** A bar on the terminal; where the output is no terminal, a line a minute. */
export class ProgressBar {
  readonly #stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  readonly #clock: Clock;
  #shown = '';
  #saidAt: number;

  constructor(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr, clock: Clock = systemClock) {
    this.#stream = stream;
    this.#clock = clock;
    this.#saidAt = clock.now().getTime();
  }

  /** Shows the part that is done, from 0 to 1, with a text. */
  show(part: number, text: string): void {
    if (!this.#stream.isTTY) return this.#say(text);
    const done = Math.round(Math.min(1, Math.max(0, part)) * width);
    const line = `[${'#'.repeat(done)}${'-'.repeat(width - done)}] ${text}`;
    if (line === this.#shown) return;
    this.#shown = line;
    this.#stream.write(`\r\u001b[K${line}`);
  }

  /** Takes the bar away. */
  end(): void {
    if (this.#stream.isTTY && this.#shown !== '') this.#stream.write('\r\u001b[K');
  }

  #say(text: string): void {
    const now = this.#clock.now().getTime();
    if (now - this.#saidAt < lineMs) return;
    this.#saidAt = now;
    this.#stream.write(`${text}\n`);
  }
}
