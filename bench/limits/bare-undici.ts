// The limit of deliveries: a loop that signs and posts, and keeps no record of anything.
import { atOnce, Poster } from '../support/post.ts';

const [receiver = '', count = '0', secret = ''] = process.argv.slice(2);
const poster = new Poster(receiver, secret);
console.log(`listens on ${receiver}: nothing, it posts there`);

let sent = 0;
async function post(): Promise<void> {
  while (sent < Number(count)) await poster.post(`evt_${++sent}`);
}

await Promise.all(Array.from({ length: atOnce }, post));
await poster.close();
