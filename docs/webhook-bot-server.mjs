// A bot on a server of its own: SWITCHBOARD_URL=… BOT_TOKEN=… BOT_SECRET=whsec_… PORT=8080 node docs/webhook-bot-server.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import Koa from 'koa';

const { SWITCHBOARD_URL, BOT_TOKEN, BOT_SECRET = '', PORT = '8080' } = process.env;
const key = Buffer.from(BOT_SECRET.replace('whsec_', ''), 'base64');

function isGenuine({ 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' }, body) {
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < 300)) return false;
  const mac = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest();
  const given = signatures.split(' ').map((one) => Buffer.from(one.replace('v1,', ''), 'base64'));
  return given.some((one) => one.length === mac.length && timingSafeEqual(one, mac));
}

// The delivery's id is the same whenever it is tried again: with it as idempotency key nothing is done twice.
async function act({ account, conversation }, path, body, id) {
  const url = `${SWITCHBOARD_URL}/api/v1/accounts/${account.id}/conversations/${conversation.id}/${path}`;
  const headers = { api_access_token: BOT_TOKEN, 'content-type': 'application/json', 'idempotency-key': id };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  // 403: a person has the conversation meanwhile, who is not to be talked over.
  if (!answer.ok && answer.status !== 403) throw new Error(`${answer.status} ${await answer.text()}`);
}

async function hear(event, id) {
  if (event.event !== 'message_created' || event.message_type !== 'incoming') return;
  if (/\b(human|agent|person)\b/i.test(event.content)) await act(event, 'toggle_status', { status: 'open' }, id);
  else await act(event, 'messages', { content: `You said: ${event.content}`, message_type: 'outgoing' }, id);
}

const app = new Koa();
app.use(async (ctx) => {
  const body = Buffer.concat(await Array.fromAsync(ctx.req));
  const genuine = isGenuine(ctx.headers, body);
  if (genuine) await hear(JSON.parse(body), ctx.get('webhook-id'));
  ctx.status = genuine ? 204 : 401;
});
const server = app.listen(Number(PORT), () => console.log(`listening on ${server.address().port}`));
