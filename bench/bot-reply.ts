import { Client } from 'pg';
import { percentile, show } from './figures.ts';
import { call, serviceEnv, startProcess } from './service.ts';

const messages = 200;
const patienceMs = 30_000;

interface Delay {
  ms: number;
}

/** Measures the time from the commit of a customer's message to the commit of the bot's answer, one at a time. */
export async function benchBotReply(databaseUrl: string): Promise<void> {
  const service = await startProcess('bin/switchboard.js', ['start'], serviceEnv(databaseUrl));
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    const delays = await measure(service.url, database);
    const [p50, p95] = [percentile(delays, 0.5), percentile(delays, 0.95)];
    console.log(`Event to bot reply, ${messages} messages: p50 ${show(p50, 1)} ms, p95 ${show(p95, 1)} ms`);
  } finally {
    await database.end();
    await service.stop();
  }
}

async function measure(url: string, database: Client): Promise<number[]> {
  const { payload } = await call<{ payload: { id: number }[] }>(url, 'GET', 'inboxes');
  const contact = await call<{ id: number }>(url, 'POST', 'contacts', { name: 'Load' });
  const answered = async (id: number): Promise<number | undefined> => {
    const { rows } = await database.query<Delay>(
      `SELECT (extract(epoch FROM answer.created_at - question.created_at) * 1000)::float8 AS ms
       FROM messages answer JOIN messages question USING (conversation_id)
       WHERE answer.conversation_id = $1 AND answer.sender_kind = 'agent_bot' AND question.message_type = 'incoming'`,
      [id],
    );
    return rows[0]?.ms;
  };
  const delays: number[] = [];
  for (let count = 0; count < messages; count++) {
    const body = { inbox_id: payload[0]?.id, contact_id: contact.id };
    const { id } = await call<{ id: number }>(url, 'POST', 'conversations', body);
    await call(url, 'POST', `conversations/${id}/messages`, { content: 'opening hours?', message_type: 'incoming' });
    const until = performance.now() + patienceMs;
    let delay = await answered(id);
    while (delay === undefined && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      delay = await answered(id);
    }
    if (delay === undefined) throw new Error('The bot did not answer');
    delays.push(delay);
  }
  return delays;
}
