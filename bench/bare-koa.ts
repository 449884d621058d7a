// The baseline of message create: a Koa handler that runs, with pg, the same statements as the service for one message.
// It records them from the service first. It validates, checks and presents nothing.
import Koa from 'koa';
import { Client, Pool, type PoolClient } from 'pg';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { App } from '../src/app/app.ts';
import { loadConfig } from '../src/config.ts';
import { call } from './service.ts';

interface Statement {
  /** The name of a prepared statement. */
  name?: string;
  text: string;
  values: unknown[];
}

type Query = (this: unknown, statement: string | Statement, values?: unknown[], done?: unknown) => unknown;

const databaseUrl = process.env.DATABASE_URL ?? '';
// The conversation of the recorded statements, to be replaced by that of each request; its contact has the same id.
const conversationId = Number(process.argv[2]);

// Records all statements of this process. To be patched before any connection is created.
const taken: Statement[] = [];
let taking = false;
const prototype = Client.prototype as unknown as { query: Query };
const { query } = prototype;
prototype.query = function (statement, values, done) {
  if (taking) taken.push(typeof statement === 'string' ? { text: statement, values: values ?? [] } : statement);
  return query.call(this, statement, values, done);
};

async function takeDown(): Promise<Statement[]> {
  const app = await App.create({
    config: { ...loadConfig(), role: 'web' },
    databaseUrl,
    log: pino({ level: 'silent' }),
  });
  const { port } = await app.listen();
  await app.start();
  const sendThroughService = () =>
    call(`http://127.0.0.1:${port}`, 'POST', `conversations/${conversationId}/messages`, {
      content: 'What are your opening hours?',
      message_type: 'incoming',
    });
  await sendThroughService();
  taking = true;
  await sendThroughService();
  taking = false;
  await app.stop();
  return taken
    .filter(({ text }) => !text.includes('agenda_jobs'))
    .map((statement) => ({ ...statement, values: statement.values ?? [] }));
}

function position(statements: readonly Statement[], beginning: string): number {
  const found = statements.findIndex(({ text }) => text.trimStart().startsWith(beginning));
  if (found === -1) throw new Error(`The service issued no ${beginning}`);
  return found;
}

const statements = await takeDown();
const read = statements.findIndex(({ text }) => text.includes('FOR UPDATE OF c'));
const update = position(statements, 'UPDATE conversations');
const outbox = position(statements, 'WITH happened');
const begin = statements.findIndex(({ text }) => /^begin/i.test(text));
const sequenceParameter = { update: 12, outbox: 5 };
const conversationParameters = { event: 2, lane: 13 };
const pool = new Pool({ connectionString: databaseUrl, max: 10 });

async function run(client: Pool | PoolClient, index: number, id: number, sequence: number) {
  const { values, ...statement } = statements[index] as Statement;
  const mine = values.map((value) => (value === conversationId ? id : value));
  if (index === update) mine[sequenceParameter.update] = sequence;
  if (index === outbox) {
    mine[conversationParameters.event] = [id];
    mine[conversationParameters.lane] = [id];
    mine[sequenceParameter.outbox] = [sequence];
  }
  return client.query<{ event_sequence: number }>({ ...statement, values: mine });
}

async function send(id: number): Promise<void> {
  for (let index = 0; index < begin; index++) await run(pool, index, id, 0);
  const client = await pool.connect();
  let sequence = 0;
  for (let index = begin; index < statements.length; index++) {
    const { rows } = await run(client, index, id, sequence);
    if (index === read) sequence = Number(rows[0]?.event_sequence) + 1;
  }
  client.release();
}

const app = new Koa();
app.use(async (ctx) => {
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { content: string };
  await send(Number(ctx.path.split('/')[6]));
  ctx.status = 201;
  ctx.body = body;
});
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void pool.end();
});
