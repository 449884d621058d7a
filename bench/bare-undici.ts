// The baseline of deliveries: a loop that signs and posts requests without recording anything.
import { Pool } from 'undici';
import { signatureHeaders } from '../src/deliveries/core/sign.ts';

const [receiver = '', count = '0', secret = ''] = process.argv.slice(2);
const connections = 64;
const body = JSON.stringify({ event: 'message_created', content: 'x'.repeat(400) });
const { origin, pathname } = new URL(receiver);
const pool = new Pool(origin, { connections });
console.log(`listens on ${origin}: nothing, it posts there`);

let sent = 0;
async function post(): Promise<void> {
  while (sent < Number(count)) {
    const id = `evt_${++sent}`;
    const signature = signatureHeaders({ id, timestamp: new Date(), body, secrets: [secret] });
    const headers = { 'content-type': 'application/json', ...signature };
    const response = await pool.request({ method: 'POST', path: pathname, headers, body });
    await response.body.dump();
  }
}

await Promise.all(Array.from({ length: connections }, post));
await pool.close();
