/** A server-sent event: its id, and its data; null for an event with an id alone. */
interface ServerEvent {
  id: string | null;
  data: string | null;
}

/** Reads server-sent events by the rules of the HTML standard, as far as the service uses them. */
export async function* readServerEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let id: string | null = null;
  let data: string[] = [];
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        yield { id, data: data.length > 0 ? data.join('\n') : null };
        data = [];
      }
      if (line.startsWith('id: ')) id = line.slice('id: '.length);
      if (line.startsWith('data: ')) data.push(line.slice('data: '.length));
    }
  }
}
