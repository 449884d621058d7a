import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { findSignatureProblem, type SignedRequest } from '../../../src/domain/hooks/signatures.ts';
import { isLinear } from '../../support/growth.ts';

type Scheme = Parameters<typeof findSignatureProblem>[0];

interface Sample {
  scheme: Scheme;
  secret: string;
  headers: Record<string, string>;
  body: string;
  url?: string;
  form?: string;
  /** Unix seconds. */
  at?: number;
}

const twilioUrl = 'https://mycompany.com/myapp.php?foo=1&bar=2';
const call = (caller: string) =>
  new URLSearchParams({
    CallSid: 'CA1234567890ABCDE',
    Caller: caller,
    Digits: '1234',
    From: caller,
    To: '+18005551212',
  }).toString();
const slackForm =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
  '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands' +
  '%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';

// Published by the providers or their libraries; those of Stripe, Shopify and Meta are computed.
const samples: Readonly<Record<string, Sample>> = {
  'Standard Webhooks': {
    scheme: 'standard-webhooks',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    at: 1_614_265_330,
  },
  Svix: {
    scheme: 'standard-webhooks',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    headers: {
      'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'svix-timestamp': '1614265330',
      'svix-signature': 'v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    at: 1_614_265_330,
  },
  GitHub: {
    scheme: 'github',
    secret: "It's a Secret to Everybody",
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    body: 'Hello, World!',
  },
  Slack: {
    scheme: 'slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body: slackForm,
    at: 1_531_420_618,
  },
  'Twilio, a form': {
    scheme: 'twilio',
    secret: '12345',
    headers: { 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
    body: call('+14158675309'),
    form: call('+14158675309'),
    url: twilioUrl,
  },
  'Twilio, another form': {
    scheme: 'twilio',
    secret: '12345',
    headers: { 'x-twilio-signature': '0/KCTR6DLpKmkAf8muzZqo1nDgQ=' },
    body: call('+12349013030'),
    form: call('+12349013030'),
    url: twilioUrl,
  },
  'Twilio, JSON': {
    scheme: 'twilio',
    secret: '12345',
    headers: { 'x-twilio-signature': 'a9nBmqA0ju/hNViExpshrM61xv4=' },
    body: '{"property": "value", "boolean": true}',
    url: `${twilioUrl}&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620`,
  },
  'basic authentication': {
    scheme: 'basic',
    secret: 'Aladdin:open sesame',
    headers: { authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
    body: '',
  },
  'basic authentication in UTF-8': {
    scheme: 'basic',
    secret: 'test:123£',
    headers: { authorization: 'basic dGVzdDoxMjPCow==' },
    body: '',
  },
  Stripe: {
    scheme: 'stripe',
    secret: 'whsec_test_secret',
    headers: {
      'stripe-signature':
        't=1614265330,v0=11,v1=00,v1=e135cdbed3dda004bf8a2fb350f2541d299393c770e0b9e6e319dc595e9072aa',
    },
    body: '{"id":"evt_1"}',
    at: 1_614_265_330,
  },
  Shopify: {
    scheme: 'shopify',
    secret: 'hush',
    headers: { 'x-shopify-hmac-sha256': 'qBvrsZF7RfB1iS6BX6IHqJTp5L911P7intnPeTPsH0I=' },
    body: '{"id":820982911946154508}',
  },
  Meta: {
    scheme: 'meta',
    secret: 'app-secret',
    headers: { 'x-hub-signature-256': 'sha256=0cc0a68f75aefe33791ce6102020cb1d7105e6123046a96ebd364a3aa9fbc1e6' },
    body: String.raw`{"object":"page","entry":[{"text":"\u00e9"}]}`,
  },
  Telegram: {
    scheme: 'telegram',
    secret: 'Aa0_-z',
    headers: { 'x-telegram-bot-api-secret-token': 'Aa0_-z' },
    body: '{"update_id":1}',
  },
};

function requestOf({ headers, body, url, form, at = 0 }: Sample): SignedRequest {
  return {
    header: (name) => headers[name] ?? null,
    body: Buffer.from(body),
    url: url ?? 'https://desk.example/hooks/x',
    form: form === undefined ? null : new URLSearchParams(form),
    now: new Date(at * 1000),
  };
}

const judge = (sample: Sample, secrets = [sample.secret]) =>
  findSignatureProblem(sample.scheme, secrets, requestOf(sample));

describe('signatures of hooks', () => {
  for (const [name, sample] of Object.entries(samples)) {
    it(`accepts what ${name} sends`, () => {
      expect(judge(sample)).to.equal(null);
      // While senders change their secret, either is in use.
      expect(judge(sample, ['another', sample.secret])).to.equal(null);
      expect(judge(sample, [sample.secret, 'another'])).to.equal(null);
    });

    it(`refuses what others send as ${name}`, () => {
      expect(judge(sample, ['another'])).to.equal('bad_signature');
      expect(judge(sample, [''])).to.equal('bad_signature');
      expect(judge(sample, [])).to.equal('bad_signature');
      expect(judge({ ...sample, headers: {} })).to.equal('missing_signature');
      for (const [header, value] of Object.entries(sample.headers)) {
        const changed = { ...sample, headers: { ...sample.headers, [header]: value.replace(/.(?=.$)/, '~') } };
        expect(judge(changed), header).to.not.equal(null);
      }
    });
  }

  it('looks at each field of a form once: anybody may send many', () => {
    const judging = (size: number) => {
      const fields = Array.from({ length: size }, (_, index): [string, string] => [`field${index}`, 'x']);
      const request = {
        ...requestOf({ scheme: 'twilio', secret: 'x', headers: { 'x-twilio-signature': 'x' }, body: '' }),
      };
      const form = new URLSearchParams(fields);
      return () => findSignatureProblem('twilio', ['x'], { ...request, form });
    };
    expect(isLinear(judging, 40_000)).to.equal(true);
  });

  it('signs the body, byte for byte', () => {
    for (const [name, sample] of Object.entries(samples)) {
      if (['telegram', 'basic'].includes(sample.scheme)) continue;
      const body = `${sample.body} `;
      const form = sample.form === undefined ? {} : { form: `${sample.form}+` };
      expect(judge({ ...sample, body, ...form }), name).to.equal('bad_signature');
    }
  });

  it('refuses signed times more than five minutes away, before and after', () => {
    for (const [name, sample] of Object.entries(samples)) {
      const { at } = sample;
      if (at === undefined) continue;
      for (const skew of [-300, 300]) expect(judge({ ...sample, at: at + skew }), name).to.equal(null);
      for (const skew of [-301, 301, 86_400])
        expect(judge({ ...sample, at: at + skew }), name).to.equal('stale_timestamp');
    }
  });

  it('reads no time that is not written in digits', () => {
    const body = '{"id":"evt_1"}';
    for (const time of ['', '0x6037bf72', '1614265330.5', '1e9', ' 1614265330', 'Infinity', '9'.repeat(400)]) {
      const v1 = createHmac('sha256', 's').update(`${time}.${body}`).digest('hex');
      const sample = { scheme: 'stripe', secret: 's', body, at: 1_614_265_330 } as const;
      expect(judge({ ...sample, headers: { 'stripe-signature': `t=${time},v1=${v1}` } }), time).to.not.equal(null);
    }
  });

  it('takes the URL of Twilio with and without the usual port', () => {
    const sample = samples['Twilio, a form']!;
    expect(judge({ ...sample, url: twilioUrl.replace('.com/', '.com:443/') })).to.equal(null);
    expect(judge({ ...sample, url: twilioUrl.replace('.com/', '.com:8443/') })).to.equal(null);
    expect(judge({ ...sample, url: twilioUrl.replace('https', 'http') })).to.equal('bad_signature');
    const signed = (url: string) => createHmac('sha1', '12345').update(url).digest('base64');
    const form = { ...sample, form: '', body: '' };
    expect(
      judge({ ...form, headers: { 'x-twilio-signature': signed(twilioUrl.replace('.com/', '.com:443/')) } }),
    ).to.equal(null);
  });

  it('reads values of a form as they are, each once', () => {
    const form = new URLSearchParams([
      ['b', ' 2 '],
      ['a', 'z'],
      ['a', 'y'],
      ['a', 'z'],
    ]);
    const signature = createHmac('sha1', '12345').update(`${twilioUrl}ayazb 2 `).digest('base64');
    const headers = { 'x-twilio-signature': signature };
    const sample = { scheme: 'twilio', secret: '12345', body: '', url: twilioUrl, form: form.toString() } as const;
    expect(judge({ ...sample, headers })).to.equal(null);
  });

  it('looks at a bounded number of signatures', () => {
    const sample = samples['Svix']!;
    const many = `${'v1,x '.repeat(20)}${sample.headers['svix-signature']}`;
    expect(judge({ ...sample, headers: { ...sample.headers, 'svix-signature': many } })).to.equal('bad_signature');
  });
});
