import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { smallAccount } from '../support/fake-chatwoot.ts';
import { ended, Importing } from '../support/importing.ts';

/** An account in which one conversation has more messages than a page, and others follow it. */
function longAccount() {
  const account = smallAccount();
  const [first] = account.conversations;
  const from = first!['created_at'] as number;
  account.messages[1] = Array.from({ length: 250 }, (_, index) => ({
    id: 1000 + index,
    message_type: index % 2,
    content: `Message ${index}`,
    created_at: from + index,
    sender: { id: 11, name: 'Ada Theirs', type: 'user' },
  }));
  for (let id = 10; id < 40; id += 1) {
    account.conversations.push({ ...first, id, meta: { sender: account.contacts[0] } });
    account.messages[id] = [{ id: 5000 + id, message_type: 0, content: `Conversation ${id}`, created_at: from }];
  }
  return account;
}

describe('switchboard import chatwoot, when things go wrong', function () {
  this.timeout(240_000);
  const importing = Importing.use(longAccount);

  it('goes on after a kill at any moment, and copies nothing twice', async () => {
    const whole = await importing.newAccount('Whole');
    const { counts } = await importing.run(whole);
    expect([counts.conversations.created, counts.messages.created]).to.deep.equal([33, 283]);
    const killed = await importing.newAccount('Killed');
    const moments = [
      (path: string) => path.endsWith('/inbox_members/32'),
      (path: string) => path.endsWith('/contacts/502'),
      // Between two pages of one conversation.
      (path: string, query: URLSearchParams) => path.endsWith('/1/messages') && query.get('after') === '1099',
      (path: string) => path.endsWith('/conversations/25/messages'),
    ];
    for (const isMoment of moments) {
      const child = importing.start(importing.into(killed, '--json'));
      const end = once(child, 'exit');
      let left = 1;
      importing.fake.intervene(({ path, query }) => {
        if (left === 0 || !isMoment(path, query)) return false;
        left -= 1;
        child.kill('SIGKILL');
        return true;
      });
      await end;
      expect(left, isMoment.toString()).to.equal(0);
    }
    importing.fake.intervene(() => false);
    const { code } = await importing.run(killed);
    expect(code).to.equal(0);
    expect(await importing.copies(killed)).to.deep.equal(await importing.copies(whole));
    await importing.verify();
  });

  it('stops with a sentence when it is told to, and goes on later', async () => {
    const account = await importing.newAccount();
    const child = importing.start(importing.into(account, '--json'));
    const end = ended(child);
    importing.fake.intervene(({ path }) => {
      if (path.endsWith('/15/messages')) child.kill('SIGINT');
      return path.endsWith('/15/messages');
    });
    const { code, output, errors } = await end;
    expect([code, output]).to.deep.equal([1, '']);
    expect(errors).to.equal('Stopped. What was copied is kept: the same command goes on there.\n');
    importing.fake.intervene(() => false);
    const { counts } = await importing.run(account);
    expect(counts.conversations.created).to.be.within(20, 30);
    expect((await importing.copies(account))['messages']).to.have.length(283);
  });

  it('copies nothing twice when two do it at once', async () => {
    const account = await importing.newAccount();
    const children = [1, 2].map(() => importing.start(importing.into(account, '--json')));
    const ends = await Promise.all(children.map(ended));
    expect(ends.map(({ code, errors }) => [code, errors])).to.deep.equal([
      [0, ''],
      [0, ''],
    ]);
    const { conversations, messages, contacts } = await importing.copies(account);
    expect([conversations!.length, messages!.length, contacts!.length]).to.deep.equal([33, 283, 2]);
    await importing.verify();
  });

  it('asks again after 429, 5xx, cut connections and pages of HTML', async () => {
    const account = await importing.newAccount();
    const failures = new Map<string, number>();
    const waits: number[] = [];
    let throttledAt = 0;
    importing.fake.intervene(({ path, query }, response) => {
      const key = `${path}?${query.toString()}`;
      const failed = failures.get(key) ?? 0;
      if (throttledAt > 0 && path.endsWith('/teams')) waits.push(Date.now() - throttledAt);
      if (failed > 0 || !/(teams|labels|contacts|conversations|7\/inboxes)$/.test(path)) return false;
      failures.set(key, failed + 1);
      if (path.endsWith('/teams')) {
        throttledAt = Date.now();
        response.writeHead(429, { 'retry-after': '1', 'content-type': 'text/plain' }).end('Retry later\n');
      } else if (path.endsWith('/labels')) response.destroy();
      else if (path.endsWith('/inboxes')) response.writeHead(200).end('<html>Maintenance</html>');
      else response.writeHead(path.endsWith('/contacts') ? 500 : 503).end();
      return true;
    });
    const { code, counts } = await importing.run(account);
    expect([code, counts.conversations.created, counts.teams.created]).to.deep.equal([0, 33, 1]);
    expect(waits[0]).to.be.greaterThan(990);
  });

  it('gives up with a sentence when nothing helps, keeps what it has, and goes on later', async () => {
    const account = await importing.newAccount();
    importing.fake.intervene(({ path }, response) => {
      if (!path.endsWith('/conversations')) return false;
      response.writeHead(502).end();
      return true;
    });
    const { code, output, errors } = await importing.call(importing.into(account));
    expect([code, output]).to.deep.equal([1, '']);
    expect(errors).to.equal(
      `${importing.fake.url} did not answer 7 times: It answered 502. What was copied is kept: the same command goes on there.\n`,
    );
    expect((await importing.copies(account))['inboxes']).to.have.length(2);
    importing.fake.intervene(() => false);
    const { counts } = await importing.run(account);
    expect([counts.inboxes.unchanged, counts.conversations.created]).to.deep.equal([2, 33]);
  });

  it('leaves out a conversation that their server cannot show, and gets it the next time', async () => {
    const account = await importing.newAccount();
    importing.fake.intervene(({ path }, response) => {
      if (!path.endsWith('/conversations/12/messages')) return false;
      response.writeHead(500).end();
      return true;
    });
    const { code, counts, remarks } = await importing.run(account);
    expect([code, counts.conversations.created, counts.conversations.left_out]).to.deep.equal([1, 32, 1]);
    expect(remarks.map(({ what }) => what)).to.deep.equal(['conversation 12']);
    importing.fake.intervene(() => false);
    const again = await importing.run(account);
    expect([again.code, again.counts.conversations.created]).to.deep.equal([0, 1]);
  });

  it('leaves out a page over which their server stumbles, and goes on behind it', async () => {
    const account = await importing.newAccount();
    importing.fake.intervene(({ path, query }, response) => {
      if (!path.endsWith('/conversations') || query.get('page') !== '1') return false;
      response.writeHead(500).end();
      return true;
    });
    const { code, counts, remarks } = await importing.run(account);
    expect([code, counts.conversations.created, counts.conversations.left_out]).to.deep.equal([1, 8, 1]);
    expect(remarks.map(({ what }) => what)).to.deep.equal(['page 1 of /accounts/7/conversations']);
    importing.fake.intervene(() => false);
    expect((await importing.run(account)).counts.conversations.created).to.equal(25);
  });

  it('ends where their server does not hear which messages are wanted', async () => {
    const account = await importing.newAccount();
    importing.fake.intervene(({ path, query }) => {
      if (!path.endsWith('/messages')) return false;
      query.set('after', '0');
      query.delete('before');
      return false;
    });
    const { counts } = await importing.run(account);
    expect([counts.conversations.created, counts.messages.created]).to.deep.equal([33, 133]);
  });

  it('reads every message where ids and times have different orders', async () => {
    const account = await importing.newAccount();
    const messages = importing.fake.account.messages[1]!;
    // The second half was written later, and dated before the first.
    for (const [index, message] of messages.entries()) message['created_at'] = 1_700_000_000 + ((index + 125) % 250);
    const { counts } = await importing.run(account);
    expect(counts.messages.created).to.equal(283);
    const rows = await importing.app.query<{ content: string }>(
      `SELECT m.content FROM messages m JOIN conversations c ON c.id = m.conversation_id
       WHERE m.account_id = $1 AND c.additional_attributes ->> 'chatwoot_id' = '1' ORDER BY m.created_at, m.id`,
      [account],
    );
    const wanted = Array.from({ length: 250 }, (_, index) => `Message ${(index + 125) % 250}`);
    expect(rows.map(({ content }) => content)).to.deep.equal(wanted);
  });

  it('ends where their server answers the same page for ever', async () => {
    const account = await importing.newAccount();
    importing.fake.intervene((asked) => {
      asked.query.delete('page');
      return false;
    });
    const { counts, hints } = await importing.run(account);
    expect(counts.conversations.created).to.equal(25);
    expect(hints.join(' ')).to.contain('8 conversations of theirs were not seen');
  });

  const refusals: [string, () => string[], Record<string, string>, RegExp][] = [
    ['a token that is not known', () => importing.into(1), { CHATWOOT_TOKEN: 'x' }, /refused \/profile \(401\)/],
    ['no token', () => importing.into(1), { CHATWOOT_TOKEN: '' }, /Set CHATWOOT_TOKEN/],
    ['an account that is not there', () => importing.into(99), {}, /There is no account 99 here/],
    ['an account of theirs that is not there', () => importing.into(1, '--account', '8'), {}, /has no account 8 there/],
    ['a private address', () => ['--url', 'https://127.0.0.1:1'], {}, /at a private address: give --allow-private/],
    ['http without a word', () => ['--url', importing.fake.url], {}, /would read the token/],
    ['no URL', () => ['--url', 'chatwoot'], {}, /--url: The URL must be absolute/],
    ['a URL with a password', () => ['--url', 'https://a:b@example.com'], {}, /user name or password/],
    ['an id that is none', () => importing.into(1, '--account', '0'), {}, /It must be a number from 1/],
  ];
  for (const [what, args, env, sentence] of refusals)
    it(`refuses ${what}`, async () => {
      const { code, output, errors } = await importing.call(args(), env);
      expect([code, output]).to.deep.equal([1, '']);
      expect(errors).to.match(sentence).and.not.contain('    at ');
    });

  it('asks which account where there are several, and refuses who is no administrator', async () => {
    const accounts = [
      { id: 7, name: 'Lamps', role: 'agent' },
      { id: 8, name: 'Chairs\u001b[2J', role: 'administrator' },
    ];
    importing.fake.profile = { id: 1, accounts };
    const several = await importing.call(importing.into(1));
    expect(several.errors).to.equal('Which account? Give --account: 7 (Lamps), 8 (Chairs\\u{1b}[2J).\n');
    const agent = await importing.call(importing.into(1, '--account', '7'));
    expect(agent.errors).to.equal('The token must be that of an administrator of the account 7 (Lamps).\n');
    importing.fake.profile = { hello: 'world' };
    expect((await importing.call(importing.into(1))).errors).to.contain('is no Chatwoot server');
  });

  it('does not follow redirects with the token', async () => {
    const asked: unknown[] = [];
    const other = createServer((request, response) => {
      asked.push(request.headers);
      response.end('{}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
      importing.fake.intervene((_, response) => {
        response.writeHead(302, { location }).end();
        return true;
      });
      const { errors } = await importing.call(importing.into(1));
      expect(errors).to.contain('redirects (302): give the --url to which it leads');
      expect(asked).to.deep.equal([]);
    } finally {
      other.closeAllConnections();
      await new Promise((resolve) => other.close(resolve));
    }
  });

  it('takes the token of a file', async () => {
    const account = await importing.newAccount();
    const path = join(tmpdir(), `switchboard-token-${process.pid}`);
    writeFileSync(path, `${importing.fake.token}\n`);
    const env = { CHATWOOT_TOKEN: '', CHATWOOT_TOKEN_FILE: path };
    const { code, errors } = await importing.call(importing.into(account, '--dry-run'), env);
    expect([code, errors]).to.deep.equal([0, '']);
  });
});
