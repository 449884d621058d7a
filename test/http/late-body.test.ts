import { once } from 'node:events';
import { request as open, type ClientRequest, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { routes } from '../../src/api/index.ts';
import { createUser, grantToken } from '../../src/domain/people/users.ts';
import { factsOf } from '../../src/http/route/admission/roles.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { newToken } from '../../src/lib/secrets/tokens.ts';
import { formOf } from '../support/archives.ts';
import { changedTables, readDigest } from '../support/digest.ts';
import { png } from '../support/files.ts';
import { fillPath, nameOf, operations, readName, type Request } from '../support/operations.ts';
import { addPerson, type Person } from '../support/people.ts';
import { signInAt } from '../support/sign-in.ts';
import { StatementLog } from '../support/statement-log.ts';
import { World } from '../support/world.ts';

/** A request whose body is held back. */
interface Sample {
  name: string;
  door: 'account' | 'platform';
  forAdministrators: boolean;
  method: string;
  path: string;
  type: string;
  body: Buffer;
}

const picture = new Blob([new Uint8Array(png())]);

async function encode(name: string, { body = {} }: Request): Promise<{ type: string; body: Buffer }> {
  if (!/#file$|^POST (articles\/import|\/platform\/api\/v1\/plugins)$/.test(name)) {
    return { type: 'application/json', body: Buffer.from(JSON.stringify(body)) };
  }
  const { file, ...fields } = body as Record<string, string>;
  const form = file === undefined ? new FormData() : formOf(Buffer.from(file, 'latin1'));
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  if (file === undefined) form.append('attachments[]', picture, 'picture.png');
  const encoded = new Response(form);
  return { type: encoded.headers.get('content-type') ?? '', body: Buffer.from(await encoded.arrayBuffer()) };
}

/** Whether the record is that of an agent, whom no other caller can stand in for. */
const isPersonal = ({ name }: Sample): boolean => name.startsWith('PATCH custom_filters/');

const messages = 'POST conversations/:conversation_id/messages';

describe('a caller who loses a right while the body arrives', function () {
  this.timeout(300_000);
  let log: StatementLog;
  let world: World;
  let samples: Sample[];
  let people = 0;

  before(async () => {
    log = new StatementLog();
    world = await World.build();
    samples = [];
    for (const name of [...Object.keys(operations), `${messages}#file`]) {
      const { operation } = readName(name);
      const route = routes.find((one) => nameOf(one) === operation);
      const { door } = factsOf(route!.contract.role);
      if (!route?.contract.body || (door !== 'account' && door !== 'platform')) continue;
      const request = await operations[name.replace('#file', '')]!(world.home, world);
      const path = fillPath(readName(name).path, world.home.maker.accountId, request);
      const forAdministrators = ['administrator', 'platform'].includes(route.contract.role);
      samples.push({ name, door, forAdministrators, method: route.method, path, ...(await encode(name, request)) });
    }
  });

  after(async () => {
    await world.stop();
    log.close();
  });

  async function addCaller(door: Sample['door']): Promise<Person> {
    people += 1;
    const name = `Late ${people}`;
    if (door === 'account') return addPerson(world.app, { name, role: 'administrator' });
    const sql = world.app.app.database.sql;
    const profile = { name, email: `late.${people}@example.com`, confirmed: true, platformAdmin: true };
    const { id } = await createUser(sql, profile, new Date());
    const token = newToken('user', systemRandom);
    await grantToken(sql, id, token, new Date());
    return { id, headers: { api_access_token: token } };
  }

  const profile = '/api/v1/profile';

  /** A way to lose a right, what is answered then, and of which callers it is true. */
  interface Loss {
    status: number;
    headers?: (caller: Person) => Promise<Record<string, string>>;
    lose: (caller: Person, door: Sample['door'], headers: Record<string, string>) => Promise<{ status: number }>;
    holds?: (sample: Sample) => boolean;
    onlyFirst?: true;
  }

  const reset: Loss = {
    status: 401,
    lose: ({ headers }) => world.app.post(`${profile}/reset_access_token`, {}, headers),
  };
  const signOut = (_caller: Person, _door: string, headers: Record<string, string>) =>
    world.send('nobody', { method: 'DELETE', path: '/sign_in', headers });
  const losses: Record<string, Loss> = {
    'whose token is reset': reset,
    'who signs out': {
      status: 401,
      headers: ({ headers }) => signInAt(world.app.url, { access_token: headers.api_access_token }),
      lose: signOut,
    },
    'who is demoted': {
      status: 403,
      lose: ({ id }, door) =>
        door === 'account'
          ? world.app.patch(`agents/${id}`, { role: 'agent' })
          : world.app.patch(`/platform/api/v1/users/${id}`, { platform_admin: false }),
      holds: ({ forAdministrators }) => forAdministrators,
    },
    // The token of somebody who is in no account any more ends as well.
    'who is removed': {
      status: 401,
      lose: ({ id }, door) => world.app.delete(door === 'account' ? `agents/${id}` : `/platform/api/v1/users/${id}`),
    },
    'whose token is reset, under a key': {
      ...reset,
      onlyFirst: true,
      headers: ({ headers }) => Promise.resolve({ ...headers, 'idempotency-key': `late ${people}` }),
      holds: ({ method }) => method === 'POST',
    },
    'whose token is reset, under a condition': {
      ...reset,
      onlyFirst: true,
      headers: ({ headers }) => Promise.resolve({ ...headers, 'if-match': '*' }),
      holds: ({ method }) => method !== 'POST',
    },
  };

  const settled = async (coming: Promise<unknown[]>): Promise<number> => {
    const [answer] = (await coming) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode ?? 0;
  };

  function begin({ method, path, type, body }: Sample, headers: Record<string, string>): ClientRequest {
    const sending = { ...headers, 'content-type': type, 'content-length': body.length, connection: 'close' };
    const request = open(world.app.url + path, { method, headers: sending });
    request.write(body.subarray(0, -1));
    return request;
  }

  async function play(sample: Sample, { headers: headersOf, lose }: Loss, isRemembered: boolean) {
    const caller = await addCaller(sample.door);
    const headers = (await headersOf?.(caller)) ?? caller.headers;
    const { 'if-match': _, 'idempotency-key': __, ...plain } = headers as Record<string, string>;
    if (isRemembered)
      expect(
        (await world.send('nobody', { method: 'GET', path: '/api/v1/accounts/1/labels', headers: plain })).status,
      ).to.equal(200);
    const identified = isRemembered
      ? Promise.resolve()
      : log.nextAnswered(/FROM access_tokens k .* WHERE k.token_hash/);
    const request = begin(sample, headers);
    const coming = once(request, 'response');
    await identified;
    expect((await lose(caller, sample.door, plain)).status).to.be.lessThan(300);
    const before = await readDigest(world.app);
    request.end(sample.body.subarray(-1));
    const status = await settled(coming);
    return { status, changed: changedTables(before, await readDigest(world.app)) };
  }

  for (const [who, loss] of Object.entries(losses)) {
    for (const isRemembered of loss.onlyFirst ? [false] : [false, true]) {
      it(`${who} is refused, and changes nothing: ${isRemembered ? 'remembered' : 'first'} call`, async () => {
        const wrong: string[] = [];
        const concerned = samples.filter((sample) => loss.holds?.(sample) ?? true);
        for (const sample of concerned) {
          if (isRemembered && sample.door === 'platform') continue;
          const { status, changed } = await play(sample, loss, isRemembered);
          if (status !== loss.status || changed.length > 0)
            wrong.push(`${sample.name}: ${status} ${changed.join(' ')}`);
        }
        expect(concerned.length).to.be.greaterThan(10);
        expect(wrong).to.deep.equal([]);
      });
    }
  }

  it('does all of it who keeps the right', async () => {
    const wrong: string[] = [];
    for (const sample of samples) {
      const { status } = await play(sample, { status: 0, lose: () => world.app.get('labels') }, false);
      // The sample's factor was begun by nobody.
      if (/\/second_factor\/(confirm|recovery_codes)$/.test(sample.name) && status === 422) continue;
      if (isPersonal(sample) ? status !== 404 : status >= 300) wrong.push(`${sample.name}: ${status}`);
    }
    expect(wrong).to.deep.equal([]);
  });
});
