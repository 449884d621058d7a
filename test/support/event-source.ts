/** An event as it came down a stream. */
export interface StreamedEvent {
  id: string;
  name: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any;
}

interface Source {
  url: string;
  headers?: Record<string, string>;
}

/** Reads server-sent events as browsers do, by the rules of the HTML standard. */
export class EventSource {
  readonly events: StreamedEvent[] = [];
  /** Lines that begin with a colon. */
  comments = 0;
  /** As the browser would send it when it comes back. */
  lastEventId = '';
  response: Response | null = null;
  /** Whether the connection broke, instead of ending as it should. */
  isBroken = false;
  readonly #abort = new AbortController();
  #reading: Promise<void> = Promise.resolve();

  /** Opens a stream; rejects with the status and body of a refusal. */
  static async open({ url, headers = {} }: Source): Promise<EventSource> {
    const source = new EventSource();
    const response = await fetch(url, { headers, signal: source.#abort.signal });
    source.response = response;
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    source.#reading = source.#read(response).catch(() => {
      source.isBroken = true;
    });
    return source;
  }

  /** Breaks the connection. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.#reading;
  }

  /** Resolves when the service has ended the stream. */
  get ended(): Promise<void> {
    return this.#reading;
  }

  async #read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    let fields = new Map<string, string>();
    for await (const bytes of response.body ?? []) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') fields = this.#dispatch(fields);
        else if (line.startsWith(':')) this.comments += 1;
        else fields.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).replace(/^ /, ''));
      }
    }
  }

  #dispatch(fields: Map<string, string>): Map<string, string> {
    this.lastEventId = fields.get('id') ?? this.lastEventId;
    const data = fields.get('data');
    if (data !== undefined)
      this.events.push({ id: this.lastEventId, name: fields.get('event') ?? 'message', data: JSON.parse(data) });
    return new Map();
  }
}
