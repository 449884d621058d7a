import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Body } from '../support/sending.ts';
import { ended, Importing } from '../support/importing.ts';

const at = { message_type: 0, created_at: 1_700_000_000 };
const manual = Buffer.from('Turn the lamp on.');

describe('switchboard import chatwoot, of files', function () {
  this.timeout(120_000);
  const importing = Importing.use();

  /** Gives their conversation 3 a message for each file, which their server has. */
  function withFiles(...names: string[]): void {
    const { account, files, url } = importing.fake;
    for (const name of names) files.set(`/blobs/${name}`, { status: 200, headers: {}, body: manual });
    account.messages[3] = names.map((name, index) => ({
      ...at,
      id: 3001 + index,
      content: `With ${name}`,
      attachments: [{ id: index + 1, file_type: 'file', data_url: `${url}/blobs/${name}` }],
    }));
  }

  /** The names of the files that an account has, and the bytes of each. */
  async function filesOf(account: number): Promise<string[]> {
    const base = `/api/v1/accounts/${account}/conversations`;
    const { data } = (await importing.app.get(`${base}?status=snoozed`)).body;
    const { body } = await importing.app.get(`${base}/${data.payload[0].id}/messages`);
    const files = (body.payload as Body[]).flatMap(({ attachments }) => attachments as Body[]);
    for (const { data_url: url } of files) expect(await (await fetch(url)).text()).to.equal(String(manual));
    return files.map(({ data_url: url }) => new URL(url).pathname.split('/').at(-1) as string);
  }

  const hangs: [string, (response: ServerResponse) => void][] = [
    ['before they answer', () => undefined],
    ['within their bytes', (response) => void response.writeHead(200, { 'content-length': '17' }).write('Turn ')],
  ];
  for (const [how, begin] of hangs)
    it(`loses no file when it is stopped ${how}`, async () => {
      withFiles('one.txt', 'two.txt');
      const account = await importing.newAccount();
      const child = importing.start(importing.into(account, '--json'));
      const end = ended(child);
      importing.fake.intervene(({ path }, response) => {
        if (path !== '/blobs/two.txt') return false;
        begin(response);
        setTimeout(() => child.kill('SIGINT'), 200);
        return true;
      });
      const { code, output, errors } = await end;
      expect([code, output]).to.deep.equal([1, '']);
      expect(errors).to.equal('Stopped. What was copied is kept: the same command goes on there.\n');
      importing.fake.intervene(() => false);
      const again = await importing.run(account);
      expect([again.code, again.remarks]).to.deep.equal([0, []]);
      expect(await filesOf(account)).to.deep.equal(['one.txt', 'two.txt']);
      await importing.verify();
    });

  it('asks again for a file after 429, 5xx, and answers that break', async () => {
    withFiles('busy.txt', 'down.txt', 'broken.txt', 'cut.txt');
    const account = await importing.newAccount();
    const asked = new Map<string, number>();
    importing.fake.intervene(({ path }, response) => {
      const times = (asked.get(path) ?? 0) + 1;
      asked.set(path, times);
      if (!path.startsWith('/blobs/') || times > 2) return false;
      if (path.endsWith('busy.txt')) response.writeHead(429).end();
      else if (path.endsWith('down.txt')) response.writeHead(503).end();
      else if (path.endsWith('broken.txt')) response.destroy();
      else {
        response.writeHead(200, { 'content-length': '17' }).write('Turn ');
        setTimeout(() => response.destroy(), 50);
      }
      return true;
    });
    const { code, counts, remarks } = await importing.run(account);
    expect([code, remarks, counts.files.created]).to.deep.equal([0, [], 4]);
    expect(await filesOf(account)).to.deep.equal(['busy.txt', 'down.txt', 'broken.txt', 'cut.txt']);
  });

  it('asks a few times for what is not to be had, and once where nothing is', async () => {
    withFiles(...Array.from({ length: 8 }, (_, index) => `${index}.txt`), 'gone.txt');
    importing.fake.files.set('/blobs/gone.txt', { status: 404, headers: {}, body: Buffer.of() });
    const account = await importing.newAccount();
    const asked: string[] = [];
    importing.fake.intervene(({ path }, response) => {
      if (!path.startsWith('/blobs/')) return false;
      asked.push(path.slice(7, -4));
      if (path.endsWith('gone.txt')) return false;
      response.writeHead(503).end();
      return true;
    });
    const { code, counts, remarks } = await importing.run(account);
    expect([code, counts.files.left_out, counts.messages.created]).to.deep.equal([1, 9, 16]);
    expect(remarks[0]).to.deep.equal({
      what: 'a file of message 3001 of conversation 3',
      why: 'left out: its link answers 503',
    });
    const times = (name: string) => asked.filter((one) => one === name).length;
    expect(['0', '4', '5', '7', 'gone'].map(times)).to.deep.equal([4, 4, 1, 1, 1]);
  });

  it('copies files once more that were swept before their message was written', async () => {
    withFiles('one.txt', 'two.txt');
    const account = await importing.newAccount();
    let swept = 0;
    importing.fake.intervene(({ path }, response) => {
      if (path !== '/blobs/two.txt' || swept > 0) return false;
      swept = 1;
      const statement = 'DELETE FROM attachments WHERE message_id IS NULL AND account_id = $1 RETURNING id';
      const sweep = async (): Promise<void> => {
        swept += (await importing.app.query(statement, [account])).length;
        response.writeHead(200).end(manual);
      };
      void sweep();
      return true;
    });
    const { code, counts, remarks } = await importing.run(account);
    expect([swept, code, remarks, counts.files.created]).to.deep.equal([2, 0, [], 2]);
    expect(await filesOf(account)).to.deep.equal(['one.txt', 'two.txt']);
    await importing.verify();
  });

  it('writes messages before the sweep could reach their files', async () => {
    withFiles(...Array.from({ length: 45 }, (_, index) => `${index}.txt`));
    const account = await importing.newAccount();
    const waiting: number[] = [];
    importing.fake.intervene(({ path }, response) => {
      if (!path.startsWith('/blobs/')) return false;
      const statement = 'SELECT count(*)::int AS n FROM attachments WHERE message_id IS NULL AND account_id = $1';
      const count = async (): Promise<void> => {
        waiting.push((await importing.app.query<{ n: number }>(statement, [account]))[0]!.n);
        response.writeHead(200).end(manual);
      };
      void count();
      return true;
    });
    const { code, counts } = await importing.run(account);
    expect([code, counts.files.created, counts.messages.created]).to.deep.equal([0, 45, 52]);
    expect(Math.max(...waiting)).to.equal(19);
    expect(waiting[20]).to.equal(0);
  });

  it('asks in each run for the files that are missing, and tells nobody when they come', async () => {
    withFiles('one.txt', 'two.txt', 'three.txt');
    const [, second] = importing.fake.account.messages[3]!;
    const link = `${importing.fake.url}/blobs`;
    const [first] = second!['attachments'] as object[];
    const more = { id: 9, file_type: 'file', data_url: `${link}/gone.txt` };
    Object.assign(second!, { content: null, attachments: [first, more] });
    const account = await importing.newAccount();
    const base = `/api/v1/accounts/${account}/conversations`;
    importing.fake.intervene(({ path }, response) => {
      if (!path.startsWith('/blobs/') || path.endsWith('three.txt')) return false;
      response.writeHead(503).end();
      return true;
    });
    const { code, counts } = await importing.run(account);
    expect([code, counts.files.created, counts.files.left_out]).to.deep.equal([1, 1, 3]);
    const still = await importing.run(account);
    expect([still.code, still.counts.files.created, still.counts.files.left_out]).to.deep.equal([1, 0, 3]);
    expect(still.counts.conversations.unchanged).to.equal(3);

    await importing.app.events();
    importing.fake.intervene(() => false);
    const some = await importing.run(account);
    expect([some.code, some.counts.files.created, some.counts.files.left_out]).to.deep.equal([1, 2, 1]);
    const what = 'a file of message 3002 of conversation 3';
    expect(some.remarks).to.deep.equal([{ what, why: 'left out: its link answers 401' }]);
    expect(await filesOf(account)).to.deep.equal(['one.txt', 'two.txt', 'three.txt']);
    const { data } = (await importing.app.get(`${base}?status=snoozed`)).body;
    const { body } = await importing.app.get(`${base}/${data.payload[0].id}/messages`);
    const [, message] = body.payload as Body[];
    expect([message.content, message.content_attributes.chatwoot.attachments]).to.deep.equal([
      '',
      [{ file_type: 'file', title: 'gone.txt' }],
    ]);
    expect(await importing.app.events()).to.deep.equal([]);

    importing.fake.files.set('/blobs/gone.txt', { status: 200, headers: {}, body: manual });
    await importing.app.delete(`${base}/${data.payload[0].id}/messages/${message.id}`);
    const deleted = await importing.run(account);
    expect([deleted.code, deleted.counts.files.created, deleted.counts.files.left_out]).to.deep.equal([0, 0, 0]);
    expect(await importing.app.query('SELECT FROM missing_files WHERE account_id = $1', [account])).to.deep.equal([]);
    expect(await filesOf(account)).to.deep.equal(['one.txt', 'three.txt']);
    await importing.verify();
  });

  it('misses those no longer that are gone, where that is asked for, and those that only failed as before', async () => {
    withFiles('one.txt', 'two.txt', 'three.txt');
    const account = await importing.newAccount();
    const answers: Record<string, number> = { '/blobs/two.txt': 404, '/blobs/three.txt': 403 };
    importing.fake.intervene(({ path }, response) => {
      if (!answers[path]) return false;
      response.writeHead(answers[path]).end();
      return true;
    });
    const { code, counts } = await importing.run(account);
    expect([code, counts.files.created, counts.files.left_out]).to.deep.equal([1, 1, 2]);
    const accepting = await importing.run(account, '--accept-missing');
    expect([accepting.code, accepting.counts.files.left_out]).to.deep.equal([1, 1]);
    const why = 'its link answers 404: it is not asked for again (--accept-missing)';
    expect(accepting.remarks).to.deep.include({ what: 'a file of message 3002 of conversation 3', why });
    answers['/blobs/three.txt'] = 410;
    expect((await importing.run(account, '--accept-missing')).code).to.equal(0);
    importing.fake.asked.length = 0;
    const last = await importing.run(account);
    expect([last.code, last.remarks]).to.deep.equal([0, []]);
    expect(importing.fake.asked.filter(({ path }) => path.startsWith('/blobs/'))).to.deep.equal([]);
    expect(await filesOf(account)).to.deep.equal(['one.txt']);
    // In a first run too.
    const fresh = await importing.newAccount();
    const first = await importing.run(fresh, '--accept-missing');
    expect([first.code, first.counts.files]).to.deep.equal([
      0,
      { theirs: null, created: 1, updated: 0, unchanged: 0, left_out: 0 },
    ]);
    expect(await importing.app.query('SELECT FROM missing_files WHERE account_id = $1', [fresh])).to.deep.equal([]);
    await importing.verify();
  });

  it('are forgotten with the account, what was missing too', async () => {
    withFiles('one.txt', 'two.txt');
    const account = await importing.newAccount('Short');
    importing.fake.intervene(({ path }, response) => {
      if (!path.endsWith('two.txt')) return false;
      response.writeHead(410).end();
      return true;
    });
    const { code, counts } = await importing.run(account);
    expect([code, counts.files.created, counts.files.left_out]).to.deep.equal([1, 1, 1]);
    const left = () =>
      importing.app.query(
        `SELECT message_id FROM missing_files WHERE account_id = $1 UNION ALL SELECT id FROM attachments WHERE account_id = $1`,
        [account],
      );
    expect(await left()).to.have.lengthOf(2);
    expect((await importing.app.delete(`/platform/api/v1/accounts/${account}`)).status).to.equal(200);
    expect(await left()).to.deep.equal([]);
    await importing.verify();
  });

  it('says which flag opens the private host that keeps their files, and copies them with it', async () => {
    withFiles('one.txt', 'two.txt');
    const asked: unknown[] = [];
    const keeper = createServer(({ headers }, response) => {
      asked.push(headers['api_access_token']);
      response.end(manual);
    });
    await new Promise<void>((resolve) => keeper.listen(0, '127.0.0.1', resolve));
    try {
      const host = `127.0.0.1:${(keeper.address() as AddressInfo).port}`;
      // Their server redirects to a link of the store.
      const location = `http://${host}/signed/two`;
      importing.fake.files.set('/blobs/two.txt', { status: 302, headers: { location }, body: Buffer.of() });
      const account = await importing.newAccount();
      const { code, counts, remarks } = await importing.run(account);
      expect([code, counts.files.created, asked]).to.deep.equal([1, 1, []]);
      const why = `left out: ${host} is at a private address: give --files-host ${host} if their server keeps its files there`;
      expect(remarks).to.deep.equal([{ what: 'a file of message 3002 of conversation 3', why }]);
      const again = await importing.run(account, '--files-host', host);
      expect([again.code, again.counts.files.created, asked]).to.deep.equal([0, 1, [undefined]]);
      expect(await filesOf(account)).to.deep.equal(['one.txt', 'two.txt']);
    } finally {
      keeper.closeAllConnections();
      await new Promise((resolve) => keeper.close(resolve));
    }
  });
});
