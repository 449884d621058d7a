// The limit of deliveries: a loop that signs and posts, and keeps no record of anything.
import { atOnce, Poster } from '../support/post.ts';

const [receiver = '', count = '0', rounds = '1', secret = ''] = process.argv.slice(2);
const poster = new Poster(receiver, secret);
console.log(`listens on ${receiver}: nothing, it posts there`);

await poster.rounds({ count: Number(count), rounds: Number(rounds) }, (ids) => {
  const post = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await poster.post(id);
  };
  return Promise.all(Array.from({ length: atOnce }, post));
});
await poster.close();
