const width = 30;

/** A bar on the terminal; nothing where the output is no terminal. */
export class ProgressBar {
  readonly #stream: NodeJS.WriteStream;
  #shown = '';

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  /** Shows the part that is done, from 0 to 1, and what is to be said of it. */
  show(part: number, text: string): void {
    if (!this.#stream.isTTY) return;
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
}
