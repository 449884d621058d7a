import { expect } from 'chai';
import * as fc from 'fast-check';
import { formType, signSample, type SampleScheme } from '../../src/cli/hooks/sign-request.ts';
import { findProblems } from '../../src/schemas.ts';
import { BotHouse } from '../runs/house.ts';
import { changedTables, readDigest } from '../support/digest.ts';
import { makeHook, send } from '../support/hook-senders.ts';

const defaultSeed = 20_261_128;
const perScheme = 50;
const secretOf = (scheme: string): string =>
  scheme === 'standard-webhooks' ? 'whsec_MfKQ9r8GKYqrTwjUPD8I' : 'user:pass';
const foreignSecret = 'whsec_c29tZWJvZHkgZWxzZQ==';
const schemes: readonly SampleScheme[] = [
  'standard-webhooks',
  'github',
  'stripe',
  'slack',
  'shopify',
  'twilio',
  'telegram',
  'meta',
  'basic',
  'none',
];
/** Headers without which, or with another value of which, a request is not signed. */
const signing = /^(webhook-|x-hub-signature|stripe-|x-slack-|x-shopify-hmac|x-twilio|x-telegram|authorization)/;
/** Schemes whose senders do not sign the body. */
const loose: ReadonlySet<SampleScheme> = new Set(['telegram', 'basic', 'none']);
const changes = ['none', 'body', 'dropped', 'twisted', 'garbage', 'foreign', 'type'] as const;
type Change = (typeof changes)[number];

interface Drawn {
  change: Change;
  value: unknown;
  isForm: boolean;
  at: number;
  garbage: string;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  change: fc.constantFrom(...changes),
  value: fc.jsonValue({ maxDepth: 3 }),
  isForm: fc.boolean(),
  at: fc.nat(),
  garbage: fc.stringMatching(/^[!-~]([ -~]{0,60}[!-~])?$/),
});

function bodyOf(id: string, { value, isForm }: Drawn): { body: string; type: string } {
  const text = JSON.stringify({ id, event_id: id, update_id: id, value });
  if (!isForm) return { body: text, type: 'application/json' };
  return { body: new URLSearchParams({ MessageSid: id, Body: text }).toString(), type: formType };
}

function changed(
  { change, at, garbage }: Drawn,
  { headers, body }: { headers: Record<string, string>; body: string },
): { headers: Record<string, string>; body: string } {
  if (change === 'type') return { headers: { ...headers, 'content-type': 'application/octet-stream' }, body };
  if (change === 'body') {
    const place = at % body.length;
    return { headers, body: `${body.slice(0, place)}${body[place] === 'x' ? 'y' : 'x'}${body.slice(place + 1)}` };
  }
  const names = Object.keys(headers).filter((name) => signing.test(name));
  const name = names[at % names.length];
  const { [name ?? '']: value = '', ...rest } = headers;
  if (name === undefined || change === 'none' || change === 'foreign') return { headers, body };
  if (change === 'dropped') return { headers: rest, body };
  const twisted = `${value.slice(0, -1)}${value.endsWith('1') ? '2' : '1'}`;
  return { headers: { ...rest, [name]: change === 'twisted' ? twisted : garbage }, body };
}

/** Whether a request has to be accepted, has to be refused, or may be either, since nobody signs what was changed. */
function expectation(scheme: SampleScheme, change: Change): 'accepted' | 'refused' | 'either' {
  if (change === 'none') return 'accepted';
  if (change === 'type') return 'refused';
  if (scheme === 'none') return change === 'body' ? 'either' : 'accepted';
  return change === 'body' && loose.has(scheme) ? 'either' : 'refused';
}

describe('hooks that get drawn requests', function () {
  this.timeout(120_000);

  it(`${schemes.length * perScheme} of them: accepted if and only if they are signed, and nothing is stored of the others`, async () => {
    const seed = Number(process.env['FUZZ_SEED'] ?? defaultSeed);
    const signed: readonly SampleScheme[] = schemes.filter((scheme) => scheme !== 'none');
    const nameOf = (scheme: SampleScheme): string => `KEY_${signed.indexOf(scheme)}`;
    const hooks = {
      ...Object.fromEntries(signed.map((verify) => [verify, { verify, secret: nameOf(verify) }])),
      none: { verify: 'none' },
    };
    const secrets = Object.fromEntries(signed.map((scheme) => [nameOf(scheme), secretOf(scheme)]));
    const desk = { on: { message_created: '' }, hooks, permissions: { hooks: true } };
    const house = await BotHouse.open({ desk }, { engine: false, bodies: { desk: { secrets } } });
    try {
      const { app } = house;
      let accepted = 0;
      const statuses: Record<string, number> = {};
      const before = await readDigest(app);
      const made = new Map<SampleScheme, { id: number; url: string }>();
      for (const scheme of schemes) made.set(scheme, await makeHook(app, house.botOf('desk'), scheme));
      for (const [index, one] of fc.sample(drawn, { seed, numRuns: schemes.length * perScheme }).entries()) {
        const scheme = schemes[index % schemes.length]!;
        const { body, type } = bodyOf(`${index}`, one);
        const secret = one.change === 'foreign' ? foreignSecret : secretOf(scheme);
        const request = { url: made.get(scheme)!.url, body, type, secret, id: `${index}`, now: new Date() };
        const { url, headers } = signSample(scheme, request);
        const sent = changed(one, { headers, body });
        const answer = await send(url, sent.body, sent.headers);
        const label = `seed ${seed}: ${scheme}, ${one.change}, ${JSON.stringify(sent)}: ${answer.status} ${answer.text}`;
        const isAccepted = answer.status === 202 || answer.status === 200;
        const wanted = expectation(scheme, one.change);
        if (wanted !== 'either') expect(isAccepted, label).to.equal(wanted === 'accepted');
        if (!isAccepted) {
          expect(answer.status, label).to.be.oneOf([400, 401, 415]);
          expect(findProblems('resources/error', answer.body), label).to.deep.equal([]);
        }
        accepted += isAccepted ? 1 : 0;
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      }
      console.log(`      seed ${seed}: ${JSON.stringify(statuses)}`);
      expect(statuses).to.include.keys('200', '202', '400', '401', '415');
      const [stored] = await app.query<{ requests: number; events: number; bodies: number }>(
        `SELECT count(*) FILTER (WHERE outcome = 'accepted')::int AS requests,
           count(*) FILTER (WHERE outcome <> 'accepted' AND (body IS NOT NULL OR headers IS NOT NULL))::int AS bodies,
           (SELECT count(*)::int FROM events WHERE name = 'hook_received') AS events FROM hook_requests`,
      );
      expect(stored).to.deep.equal({ requests: accepted, bodies: 0, events: accepted });
      const touched = 'audit_log deliveries events hook_requests hook_tokens hooks lanes unplaced_events'.split(' ');
      expect(touched).to.include.members(changedTables(before, await readDigest(app)));
    } finally {
      await house.close();
    }
  });
});
