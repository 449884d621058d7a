import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { addPerson } from '../support/people.ts';
import { addConversation, addInbox } from '../support/records.ts';
import { StatementLog } from '../support/statement-log.ts';

describe('a caller whom the process remembers', () => {
  let log: StatementLog;
  let app: TestApp;
  let path: string;

  before(async () => {
    log = new StatementLog();
    app = await TestApp.start({ engine: false });
    path = `conversations/${await addConversation(app, await addInbox(app))}`;
  });

  after(async () => {
    await app.stop();
    log.close();
  });

  const word = { content: 'Good morning', message_type: 'outgoing' };
  const ofPerson = 'SELECT id FROM users WHERE email = $1';

  let people = 0;
  async function known() {
    const person = await addPerson(app, { name: `Known ${++people}`, role: 'administrator' });
    const say = (body: object = word) => app.post(`${path}/messages`, body, person.headers);
    expect((await say()).status).to.equal(201);
    return { ...person, say };
  }

  it('is verified in the transaction, without a round trip of its own', async () => {
    const { say } = await known();
    const trips = await log.tripsDuring(say);
    expect(trips.map(({ length }) => length)).to.deep.equal([4, 2]);
  });

  it('is refused at the very request when the token is gone, whatever the request', async () => {
    const { email, say } = await known();
    await app.query(`DELETE FROM access_tokens WHERE user_id = (${ofPerson})`, [email]);
    const before = await app.query('SELECT count(*) FROM messages');
    for (const body of [word, { content: 5 }, {}]) expect((await say(body)).status).to.equal(401);
    expect(await app.query('SELECT count(*) FROM messages')).to.deep.equal(before);
  });

  it('is refused when the seat is taken away', async () => {
    const { email, say } = await known();
    await app.query(`UPDATE seats SET left_at = now() WHERE account_id = 1 AND person_id = (${ofPerson})`, [email]);
    expect((await say()).status).to.equal(404);
  });

  it('does as an agent what was begun as an administrator', async () => {
    const { id, say } = await known();
    await app.query(`UPDATE agents SET role = 'agent' WHERE account_id = 1 AND user_id = $1`, [id]);
    expect((await say()).status).to.equal(403);
  });

  it('speaks under the name of the moment', async () => {
    const { id, say } = await known();
    await app.query(`UPDATE seats SET name = 'Renamed' WHERE account_id = 1 AND id = $1`, [id]);
    expect((await say()).body.sender.name).to.equal('Renamed');
  });

  it('is told of mistakes as anybody', async () => {
    const { say, headers } = await known();
    expect((await say({ content: 5 })).status).to.equal(422);
    expect((await app.post('conversations/999999/messages', word, headers)).status).to.equal(404);
    expect((await say()).status).to.equal(201);
  });
});
