import { expect } from 'chai';
import { routes } from '../src/api/index.ts';
import type { Route } from '../src/http/route/route.ts';
import { accountMatrix } from './support/account-matrix.ts';
import { changedTables, readDigest, type Digest } from './support/digest.ts';
import { endpointMatrix } from './support/endpoint-matrix.ts';
import { fieldMatrix } from './support/field-matrix.ts';
import { findIdPositions, recordOf, substitute, type IdPosition } from './support/id-positions.ts';
import { fillPath, nameOf, operations, readName, type Request } from './support/operations.ts';
import { signInAt } from './support/sign-in.ts';
import { signInMatrix } from './support/sign-in-matrix.ts';
import { smallMatrix } from './support/small-resources.ts';
import { furnish, principals, World, type PrincipalName, type Reply } from './support/world.ts';

// Cursors are sealed anew for each answer; their length would still tell how much there is.
// Sealed anew each time, or moved by the reading itself.
function withoutSealed({ status, text }: Reply): object {
  const lasting = text.replaceAll(/"token_last_used_at":(?:\d+|null)/g, '"token_last_used_at":0');
  return { status, text: lasting.replaceAll(/"v1\.[\w-]+"/g, (sealed) => `${sealed.length} sealed characters`) };
}

interface Row {
  name: string;
  statuses: string[];
}

function readTable(): Row[] {
  const [, ...lines] = (accountMatrix + endpointMatrix + signInMatrix + fieldMatrix)
    .split('\n')
    .filter((line) => line.trim() !== '');
  lines.push(...Object.entries(smallMatrix).map(([name, statuses]) => `${name} ${statuses}`));
  return lines.map((line) => {
    const [method, path, ...statuses] = line.trim().split(/\s+/);
    return { name: `${method} ${path}`, statuses };
  });
}

const rows = readTable();
const routeOf = (name: string) => routes.find((route) => nameOf(route) === readName(name).operation);
// Whose ids are not this account's to name, and have no business in this account's answers.
const people: readonly PrincipalName[] = ['administrator', 'member', 'mate', 'outsider', 'bot', 'idle'];
const strangers: readonly PrincipalName[] = ['otherBot', 'otherAdmin', 'otherGuest', 'revoked', 'nobody'];
const secrets = /whsec_[\w+/=]{20}|sw[ubciw]_[0-9A-Za-z]{49}/;
const unused = 9_007_199_254_740_991; // An id that no record has.

describe('who may do what', function () {
  this.timeout(120_000);
  let world: World;

  before(async () => {
    world = await World.build();
  });

  after(() => world.stop());

  it('has a row for every operation, and none for what is no operation', () => {
    const known = rows.map(({ name }) => readName(name).operation);
    expect([...new Set(known)].sort()).to.deep.equal(routes.map(nameOf).sort());
    expect(Object.keys(operations).sort()).to.deep.equal(rows.map(({ name }) => name).sort());
    for (const { name, statuses } of rows) expect(statuses, name).to.have.lengthOf(principals.length);
  });

  it('notices every change of the database', async () => {
    const changes = [
      `INSERT INTO labels (account_id, title) VALUES (1, 'noticed')`,
      `UPDATE labels SET show_on_sidebar = show_on_sidebar WHERE title = 'noticed'`,
      `DELETE FROM labels WHERE title = 'noticed'`,
    ];
    for (const change of changes) {
      const before = await readDigest(world.app);
      expect(changedTables(before, await readDigest(world.app))).to.deep.equal([]);
      await world.app.query(change);
      expect(changedTables(before, await readDigest(world.app)), change).to.deep.equal(['labels']);
    }
  });

  async function send(principal: PrincipalName, name: string, request: Request): Promise<Reply> {
    const { method, path } = readName(name);
    const full = fillPath(path, world.home.maker.accountId, request);
    const reply = await world.send(principal, { method, path: full, ...(request.body ? { body: request.body } : {}) });
    checkLeaks(principal, name, reply);
    return reply;
  }

  // Every text that an account holds bears its mark.
  function checkLeaks(principal: PrincipalName, name: string, { status, text }: Reply): void {
    const what = `${name} as ${principal}`;
    if (people.includes(principal) || principal === 'guest') expect(text, what).not.to.include('Bravo');
    const isOpen = ['anyone', 'newcomer', 'visitor', 'newClient', 'client'].includes(routeOf(name)!.contract.role);
    if (status >= 300 || (strangers.includes(principal) && !isOpen)) expect(text, what).not.to.include('Alpha');
    if (principal === 'idle' && !isOpen) expect(text, what).not.to.include('Alpha');
    if (principal === 'outsider' && !isOpen) expect(text, what).not.to.include('Alpha message');
    if (status >= 300 || name.startsWith('GET')) expect(text, what).not.to.match(secrets);
  }

  let digest: Digest;
  const expectUnchanged = async (what: string) =>
    expect(changedTables(digest, await readDigest(world.app)), `${what} changed`).to.deep.equal([]);

  // What is refused, or only read, changes nothing; what should have been refused is told by its status.
  async function sendInVain(principal: PrincipalName, name: string, request: Request): Promise<Reply> {
    const reply = await send(principal, name, request);
    const mayChange = reply.status < 300 && !name.startsWith('GET');
    if (mayChange) digest = await readDigest(world.app);
    else await expectUnchanged(`${name} as ${principal}, answered ${reply.status},`);
    return reply;
  }

  for (const { name, statuses } of rows) {
    it(name, async () => {
      const prepare = operations[name]!;
      const request = await prepare(world.home, world);
      digest = await readDigest(world.app);
      const answered: Record<string, number> = {};
      for (const principal of principals) {
        const changes = Number(statuses[principals.indexOf(principal)]) < 300 && !name.startsWith('GET');
        if (!changes) answered[principal] = (await sendInVain(principal, name, request)).status;
      }
      for (const principal of principals) {
        if (principal in answered) continue;
        answered[principal] = (await send(principal, name, await prepare(world.home, world))).status;
      }
      const expected = Object.fromEntries(principals.map((principal, index) => [principal, Number(statuses[index])]));
      expect(answered).to.deep.equal(expected);
    });
  }

  const withoutRequestId = ({ status, body }: Reply) => ({ status, body: { ...body, request_id: undefined } });

  async function trySubstitutes(row: Row, position: IdPosition): Promise<void> {
    const { name, statuses } = row;
    const request = await operations[name]!(world.home, world);
    const theirs = substitute(request, position, recordOf(world.other, position.kind));
    const nobodys = substitute(request, position, unused);
    digest = await readDigest(world.app);
    for (const principal of people) {
      const reply = await sendInVain(principal, name, theirs);
      const what = `as ${principal}: ${reply.text}`;
      const allowed = Number(statuses[principals.indexOf(principal)]) < 300;
      expect(reply.status, what).to.be.oneOf(allowed ? [404] : [403, 404]);
      expect(withoutRequestId(reply), what).to.deep.equal(withoutRequestId(await sendInVain(principal, name, nobodys)));
    }
  }

  const isInAccount = (route: Route) => route.path.startsWith('/api/v1/accounts/:account_id/');

  for (const row of rows) {
    const route = routeOf(row.name);
    if (!route || !isInAccount(route) || row.name.includes('#')) continue;
    for (const position of findIdPositions(route)) {
      it(`${row.name}: ${position.name} (${position.in}) of another account is not there`, () =>
        trySubstitutes(row, position));
    }
  }

  for (const { name } of rows.filter((row) => /visitor|contact/.test(routeOf(row.name)?.contract.role ?? ''))) {
    it(`${name}: a contact's token opens no other inbox`, async () => {
      const request = await operations[name]!(world.home, world);
      digest = await readDigest(world.app);
      const identifiers = [
        [world.other.widget.identifier, 401],
        ['nobody-has-this', 404],
      ] as const;
      for (const [identifier, status] of identifiers) {
        expect((await sendInVain('guest', name, { ...request, at: { identifier } })).status).to.equal(status);
      }
    });
  }

  for (const { name } of rows.filter((row) => row.name.includes('/platform/api/v1/agent_bots/:id'))) {
    it(`${name}: a bot of an account is none of the platform's`, async () => {
      const request = await operations[name]!(world.home, world);
      digest = await readDigest(world.app);
      const at = { id: world.other.bot.id };
      expect((await sendInVain('platform', name, { ...request, at })).status).to.equal(404);
    });
  }

  for (const { name } of rows.filter((row) => /^(PATCH|DELETE|POST) agent_bots\/:id/.test(row.name))) {
    it(`${name}: a system bot is none of the account's`, async () => {
      const system = await operations['GET /platform/api/v1/agent_bots/:id']!(world.home, world);
      const request = { ...(await operations[name]!(world.home, world)), at: system.at! };
      digest = await readDigest(world.app);
      expect((await sendInVain('administrator', name, request)).status).to.equal(403);
    });
  }

  const signedIn: readonly PrincipalName[] = ['administrator', 'member', 'mate', 'outsider', 'otherAdmin', 'platform'];

  it('pages of the service may do for who has signed in what the access token may', async function () {
    this.timeout(120_000);
    const pages = new Map<PrincipalName, Record<string, string>>();
    for (const principal of signedIn) {
      const { api_access_token: token = '' } = world.headersOf(principal);
      pages.set(principal, await signInAt(world.app.url, { access_token: token }));
    }
    const known = rows.filter(({ name }) => !/sign_in|reset_access_token$/.test(name));
    for (const { name, statuses } of known) {
      const { method, path } = readName(name);
      const request = await operations[name]!(world.home, world);
      for (const principal of signedIn.toReversed()) {
        const expected = Number(statuses[principals.indexOf(principal)]);
        // What may be changed is tried by one of them.
        const changer = path.startsWith('/platform') ? 'platform' : 'administrator';
        if (expected < 300 && method !== 'GET' && principal !== changer) continue;
        const full = fillPath(path, world.home.maker.accountId, request);
        const sent = { method, path: full, headers: pages.get(principal) ?? {} };
        const { status } = await world.send('nobody', request.body ? { ...sent, body: request.body } : sent);
        expect(status, `${name} as ${principal}`).to.equal(expected);
      }
    }
  });

  it('what happens in another account shows in no answer, be it as a number', async () => {
    const reading = rows.filter(({ name }) => name.startsWith('GET') && isInAccount(routeOf(name)!));
    const requests: Record<string, Request> = {};
    for (const { name } of reading) requests[name] = await operations[name]!(world.home, world);
    const readAll = async () => {
      const answers: Record<string, object> = {};
      for (const [name, request] of Object.entries(requests)) {
        for (const principal of people) {
          const reply = await send(principal, name, request);
          if (reply.status < 300) answers[`${name} as ${principal}`] = withoutSealed(reply);
        }
      }
      return answers;
    };
    const before = await readAll();
    await furnish([world.other.maker]);
    const after = await readAll();
    for (const [name, answer] of Object.entries(after)) expect(answer, name).to.deep.equal(before[name]);
    expect(Object.keys(after)).to.deep.equal(Object.keys(before));
    expect(Object.keys(before)).to.have.length.greaterThan(reading.length);
  });
});
