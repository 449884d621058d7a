/** One server-sent event. */
export interface ServerEvent {
  name: string;
  data: string;
}

/** What is told of a stream while it is read. */
interface Listener {
  event: (event: ServerEvent) => void;
  /** The place behind what was read: with it the next stream goes on. */
  place: (cursor: string) => void;
  /** Anything arrived, a heartbeat for example. */
  sign: () => void;
}

/** Reads server-sent events to the end of the stream. An EventSource would tell neither places nor heartbeats nor statuses. */
export async function readEvents(body: ReadableStream<Uint8Array>, listener: Listener): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    listener.sign();
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) tell(block, listener);
  }
}

function tell(block: string, { event, place }: Listener): void {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    fields.set(name, fields.has(name) && name === 'data' ? `${fields.get(name)}\n${value}` : value);
  }
  const data = fields.get('data');
  if (data !== undefined) event({ name: fields.get('event') ?? 'message', data });
  const id = fields.get('id');
  if (id !== undefined) place(id);
}
