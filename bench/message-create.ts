import { Pool } from 'undici';
import { median, percentile, show } from './figures.ts';
import { call, serviceEnv, startProcess, token, type Measured } from './service.ts';

const connections = 16;
// More conversations than connections, so that requests do not wait for one conversation's lock.
const conversations = 200;
const rounds = 5;
const roundMs = 3_000;

interface Round {
  perSecond: number;
  latenciesMs: number[];
}

/** Measures message create over HTTP, alternating with a bare Koa handler that runs the same statements. */
export async function benchMessageCreate(databaseUrl: string): Promise<void> {
  console.log(
    `Message create: ${connections} connections, ${rounds} rounds of ${roundMs / 1000} s in turns, the first discarded`,
  );
  const ours = await startProcess('bin/switchboard.js', ['start'], serviceEnv(databaseUrl, { ROLE: 'web' }));
  try {
    const ids = await prepare(ours.url);
    const bare = await startProcess('bench/bare-koa.ts', [String(ids.at(-1))], serviceEnv(databaseUrl));
    try {
      await compare({ ours, bare }, ids);
    } finally {
      await bare.stop();
    }
  } finally {
    await ours.stop();
  }
}

async function prepare(url: string): Promise<number[]> {
  const { payload } = await call<{ payload: { id: number }[] }>(url, 'GET', 'inboxes');
  const ids: number[] = [];
  for (let count = 0; count < conversations; count++) {
    const contact = await call<{ id: number }>(url, 'POST', 'contacts', { name: 'Load' });
    // The first message is an agent's, which silences the bot: the benchmark measures messages, not answers.
    const body = { inbox_id: payload[0]?.id, contact_id: contact.id, message: { content: 'Hello' } };
    ids.push((await call<{ id: number }>(url, 'POST', 'conversations', body)).id);
  }
  return ids;
}

async function compare({ ours, bare }: { ours: Measured; bare: Measured }, ids: readonly number[]): Promise<void> {
  const results: { ours: Round[]; bare: Round[] } = { ours: [], bare: [] };
  for (let round = 0; round <= rounds; round++) {
    const pair = { ours: await load(ours, ids), bare: await load(bare, ids) };
    if (round === 0) continue;
    results.ours.push(pair.ours);
    results.bare.push(pair.bare);
  }
  const ratio = report('Switchboard', results.ours) / report('bare Koa, same SQL', results.bare);
  console.log(`  ratio ${show(ratio, 2)}`);
}

async function load(target: Measured, ids: readonly number[]): Promise<Round> {
  const pool = new Pool(target.url, { connections });
  const latenciesMs: number[] = [];
  const until = performance.now() + roundMs;
  let next = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const id = ids[next++ % ids.length];
      const begun = performance.now();
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: `/api/v1/accounts/1/conversations/${id}/messages`,
        headers: { api_access_token: token, 'content-type': 'application/json' },
        body: JSON.stringify({ content: 'What are your opening hours?', message_type: 'incoming' }),
      });
      await body.dump();
      if (statusCode !== 201) throw new Error(`Answered ${statusCode}`);
      latenciesMs.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  await pool.close();
  return { perSecond: latenciesMs.length / (roundMs / 1000), latenciesMs };
}

function report(name: string, results: readonly Round[]): number {
  const perSecond = median(results.map((round) => round.perSecond));
  const all = results.flatMap(({ latenciesMs }) => latenciesMs);
  const [p50, p99] = [percentile(all, 0.5), percentile(all, 0.99)];
  console.log(`  ${name}: ${show(perSecond)} requests/s, p50 ${show(p50, 1)} ms, p99 ${show(p99, 1)} ms`);
  return perSecond;
}
