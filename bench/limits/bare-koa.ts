// The limit of message create: Koa, pg, and one prepared statement that authenticates, moves the conversation on, and
// stores the message and its event, on the lean tables. Nothing is validated, decided, presented or delivered.
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { Pool } from 'pg';
import { token } from '../support/service.ts';

const statement = `
  WITH actor AS (SELECT user_id FROM lean.tokens WHERE token_hash = $1),
  conversation AS (
    UPDATE lean.conversations c SET event_sequence = event_sequence + 1, unread_count = unread_count + 1,
      last_activity_at = now(), updated_at = now()
    FROM actor WHERE c.account_id = 1 AND c.id = $2
    RETURNING c.id, c.event_sequence, c.contact_id
  ),
  message AS (
    INSERT INTO lean.messages (account_id, conversation_id, message_type, content, sender_id)
    SELECT 1, id, 'incoming', $3, contact_id FROM conversation RETURNING id
  ),
  event AS (
    INSERT INTO lean.events (account_id, conversation_id, sequence, name, payload)
    SELECT 1, id, event_sequence, 'message_created', $4::json FROM conversation
  )
  SELECT id FROM message`;

// Stands for the conversation in an event's payload, in the size that our own has.
const surroundings = { conversation: { additional_attributes: 'x'.repeat(900) }, event: 'message_created' };
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
await pool.query('INSERT INTO lean.tokens VALUES ($1, 1) ON CONFLICT DO NOTHING', [hash(token)]);

const app = new Koa();
app.use(async (ctx) => {
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer);
  const { content } = JSON.parse(Buffer.concat(chunks).toString()) as { content: string };
  const values = [
    hash(ctx.get('api_access_token')),
    Number(ctx.path.split('/')[6]),
    content,
    JSON.stringify({ ...surroundings, content }),
  ];
  const { rows } = await pool.query<{ id: string }>({ name: 'create', text: statement, values });
  if (!rows[0]) return;
  ctx.status = 201;
  ctx.body = { id: Number(rows[0].id), content };
});
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void pool.end();
});
