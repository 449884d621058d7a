import { expect } from 'chai';
import { Importing } from '../support/importing.ts';
import type { Body } from '../support/sending.ts';

const refunds = [
  { attribute_key: 'content', filter_operator: 'contains', values: ['refund'], query_operator: 'AND' },
  { attribute_key: 'message_type', filter_operator: 'equal_to', values: ['incoming'], query_operator: null },
];
const close = [{ action_name: 'resolve_conversation', action_params: null }];

describe('switchboard import chatwoot, of rules and macros', function () {
  this.timeout(120_000);
  const importing = Importing.use();

  const read = async (account: number, path: string): Promise<Body> => {
    const { status, body } = await importing.app.get(`/api/v1/accounts/${account}/${path}`);
    expect(status, path).to.equal(200);
    return body;
  };
  const automationsOf = async (account: number): Promise<Body[]> => (await read(account, 'automations')).payload;
  const idOf = async (account: number, path: string, name: string): Promise<number> => {
    const body = await read(account, path);
    const list = (Array.isArray(body) ? body : body.payload) as Body[];
    return list.find((one) => one.name === name)!.id;
  };
  const rule = (id: number, more: object): Record<string, unknown> => ({
    id,
    account_id: 7,
    name: `Rule ${id}`,
    description: '',
    event_name: 'message_created',
    conditions: refunds,
    actions: close,
    created_on: 1_700_000_000,
    active: true,
    ...more,
  });

  it('puts rules into an automation that is off, with the ids that records have here', async () => {
    const account = await importing.newAccount();
    importing.fake.account.automationRules = [
      rule(1, {
        name: 'Refunds',
        actions: [
          { action_name: 'add_label', action_params: ['VIP'] },
          { action_name: 'assign_team', action_params: [41] },
          { action_name: 'assign_agent', action_params: [12] },
          { action_name: 'change_priority', action_params: ['high'] },
          { action_name: 'add_private_note', action_params: ['Look at it'] },
          { action_name: 'snooze_conversation', action_params: [] },
        ],
      }),
      rule(2, {
        name: 'Opened',
        active: false,
        event_name: 'conversation_opened',
        conditions: [
          { attribute_key: 'inbox_id', filter_operator: 'equal_to', values: [31], query_operator: 'or' },
          { attribute_key: 'labels', filter_operator: 'equal_to', values: ['VIP'], query_operator: 'or' },
          {
            attribute_key: 'plan',
            custom_attribute_type: 'contact_attribute',
            filter_operator: 'is_present',
            values: [],
            query_operator: 'or',
          },
          { attribute_key: 'status', filter_operator: 'not_equal_to', values: ['all'], query_operator: null },
        ],
        actions: [{ action_name: 'change_status', action_params: ['resolved'] }],
      }),
    ];
    const dry = await importing.run(account, '--dry-run');
    expect([dry.code, dry.counts.automation_rules.theirs, await automationsOf(account)]).to.deep.equal([0, 2, []]);

    const { code, counts, hints } = await importing.run(account);
    const all = { theirs: 2, created: 2, updated: 0, unchanged: 0, left_out: 0 };
    expect([code, counts.automation_rules]).to.deep.equal([0, all]);
    expect(hints.join('\n')).to.contain('The new rules are in an automation that is off');
    const [shop, team] = [await idOf(account, 'inboxes', 'Shop'), await idOf(account, 'teams', 'sales')];
    const bob = await idOf(account, 'agents', 'Bob Theirs');
    const [automation, ...others] = await automationsOf(account);
    expect(others).to.deep.equal([]);
    expect(automation).to.deep.include({ name: 'Rules from Chatwoot', plugin_id: 'rules', active: false });
    // From JSON: an object with `then` looks like a promise.
    const expected = JSON.parse(`{"rules":[
      {"name":"Refunds","active":true,"on":["message_created"],
        "if":{"all":[{"attribute":"content","operator":"contains","values":["refund"]},
          {"attribute":"message_type","operator":"equal_to","values":["incoming"]}]},
        "then":[{"action":"add_labels","labels":["vip"]},{"action":"assign","team_id":${team}},
          {"action":"assign","agent_id":${bob}},{"action":"priority","priority":"high"},
          {"action":"note","content":"Look at it"},{"action":"snooze","seconds":31536000}]},
      {"name":"Opened","active":false,"on":["conversation_status_changed"],
        "if":{"all":[{"attribute":"status","operator":"equal_to","values":["open"]}],
          "any":[{"attribute":"inbox_id","operator":"equal_to","values":[${shop}]},
            {"attribute":"labels","operator":"equal_to","values":["vip"]},
            {"attribute":"contact.plan","operator":"is_present"},
            {"attribute":"status","operator":"not_equal_to","values":["open","resolved","pending","snoozed"]}]},
        "then":[{"action":"resolve"}]}]}`) as object;
    expect(automation!.config).to.deep.equal(expected);
    expect(await importing.app.events()).to.deep.equal([]);
  });

  it('copies each rule once; what comes later is off, and what was deleted here stays deleted', async () => {
    const account = await importing.newAccount();
    importing.fake.account.automationRules = [rule(1, {})];
    await importing.run(account);
    const [{ id }] = (await automationsOf(account)) as [Body];
    await importing.app.patch(`/api/v1/accounts/${account}/automations/${id}`, { active: true });
    importing.fake.account.automationRules.push(rule(2, {}));
    const { counts } = await importing.run(account);
    expect(counts.automation_rules).to.include({ created: 1, unchanged: 1 });
    const [automation] = await automationsOf(account);
    const shown = (automation!.config.rules as Body[]).map(({ name, active }) => [name, active]);
    expect([automation!.active, shown]).to.deep.equal([
      true,
      [
        ['Rule 1', true],
        ['Rule 2', false],
      ],
    ]);
    await importing.app.delete(`/api/v1/accounts/${account}/automations/${id}`);
    expect((await importing.run(account)).counts.automation_rules).to.include({ created: 0, unchanged: 2 });
    expect(await automationsOf(account)).to.deep.equal([]);
  });

  it('acts, once it is on, as it did there', async () => {
    const account = await importing.newAccount();
    importing.fake.account.automationRules = [
      rule(1, { actions: [{ action_name: 'change_priority', action_params: ['urgent'] }] }),
    ];
    await importing.run(account);
    const base = `/api/v1/accounts/${account}`;
    const [{ id }] = (await automationsOf(account)) as [Body];
    await importing.app.patch(`${base}/automations/${id}`, { active: true });
    const inbox = (await importing.app.post(`${base}/inboxes`, { name: 'New', channel: { type: 'api' } })).body.id;
    const contact = (await importing.app.post(`${base}/contacts`, { name: 'New' })).body.id;
    const opened = await importing.app.post(`${base}/conversations`, { inbox_id: inbox, contact_id: contact });
    const message = { content: 'A REFUND, please', message_type: 'incoming' };
    await importing.app.post(`${base}/conversations/${opened.body.id}/messages`, message);
    await importing.app.eventually(
      async () => (await read(account, `conversations/${opened.body.id}`)).priority === 'urgent',
    );
  });

  it('names what has no equivalent here', async () => {
    const account = await importing.newAccount();
    const condition = (more: object) => [
      { attribute_key: 'status', filter_operator: 'equal_to', values: ['open'], query_operator: null, ...more },
    ];
    const [first, second] = [refunds[0]!, { ...refunds[1]!, query_operator: 'OR' }];
    importing.fake.account.automationRules = [
      rule(1, {
        actions: [
          ...close,
          { action_name: 'send_webhook_event', action_params: ['https://crm.example'] },
          { action_name: 'send_message', action_params: ['Hello'] },
          { action_name: 'assign_agent', action_params: ['last_responding_agent'] },
        ],
      }),
      rule(2, { actions: [{ action_name: 'mute_conversation', action_params: [] }] }),
      rule(3, { conditions: condition({ attribute_key: 'city' }) }),
      rule(4, { conditions: condition({ filter_operator: 'attribute_changed' }) }),
      rule(5, { conditions: condition({ attribute_key: 'team_id', values: [99] }) }),
      rule(6, { conditions: [first, second, first] }),
      rule(7, { event_name: 'article_published' }),
      rule(8, { execution_delay: 60 }),
      rule(9, { conditions: condition({ attribute_key: 'status', custom_attribute_type: 'conversation_attribute' }) }),
      rule(10, { name: null, conditions: 'none', actions: [null, 5, 'x'] }),
    ];
    const { code, counts, remarks } = await importing.run(account);
    expect([code, counts.automation_rules]).to.deep.equal([
      1,
      { theirs: 10, created: 1, updated: 0, unchanged: 0, left_out: 9 },
    ]);
    const reasons = remarks.map(({ what, why }) => `${what}: ${why}`);
    const leftOut = (id: number, why: string) => `automation_rule ${id} Rule ${id}: left out: ${why}`;
    expect(reasons).to.deep.equal([
      'automation rule 1: copied without actions that have no equivalent here: send_webhook_event, send_message, assign_agent',
      leftOut(2, 'its actions have no equivalent here: mute_conversation'),
      leftOut(3, 'a condition has no equivalent here: city equal_to'),
      leftOut(4, 'a condition has no equivalent here: status attribute_changed'),
      leftOut(5, 'a condition has no equivalent here: its value of team_id'),
      leftOut(6, 'its conditions mix AND and OR'),
      leftOut(7, 'it runs on article_published'),
      leftOut(8, 'it waits before it acts'),
      leftOut(9, 'a condition has no equivalent here: status equal_to'),
      'automation_rule 10: left out: its actions have no equivalent here: an action without a name',
    ]);
  });

  it('passes over editions that show neither', async () => {
    const account = await importing.newAccount();
    importing.fake.intervene(({ path }, response) => {
      if (!/\/(automation_rules|macros)$/.test(path)) return false;
      response.writeHead(403).end();
      return true;
    });
    expect((await importing.run(account, '--dry-run')).counts.macros.theirs).to.equal(null);
    const { code, counts } = await importing.run(account);
    expect([code, counts.automation_rules.theirs, counts.macros.theirs]).to.deep.equal([0, 0, 0]);
  });

  it('copies macros whose actions are all known here, each once', async () => {
    const account = await importing.newAccount();
    const macro = (id: number, actions: unknown, more: object = {}) => ({
      id,
      name: `Macro ${id}`,
      visibility: 'global',
      created_by: { id: 12 },
      account_id: 7,
      actions,
      ...more,
    });
    const personal = { visibility: 'personal', created_by: { id: 99 } };
    importing.fake.account.macros = [
      macro(1, [
        { action_name: 'assign_team', action_params: [41] },
        { action_name: 'assign_agent', action_params: ['self'] },
        { action_name: 'add_label', action_params: ['VIP'] },
        { action_name: 'snooze_conversation', action_params: null },
        { action_name: 'send_message', action_params: ['Hello'] },
      ]),
      macro(2, close, { created_by: { id: 99 } }),
      macro(3, close, personal),
      macro(4, [...close, { action_name: 'send_email_transcript', action_params: ['a@b.example'] }]),
      macro(5, [{ action_name: 'change_priority', action_params: ['whenever'] }]),
    ];
    const { code, counts, remarks } = await importing.run(account);
    const all = { theirs: 5, created: 2, updated: 0, unchanged: 0, left_out: 3 };
    expect([code, counts.macros]).to.deep.equal([1, all]);
    expect(remarks.map(({ what, why }) => `${what}: ${why}`)).to.deep.equal([
      'macro 3 Macro 3: left out: it is personal, and its author is no agent here',
      'macro 4 Macro 4: left out: an action has no equivalent here: send_email_transcript',
      'macro 5 Macro 5: left out: action_params of change_priority must be urgent, high, medium, low or nil',
    ]);
    const team = await idOf(account, 'teams', 'sales');
    const { payload } = await read(account, 'macros');
    expect(
      (payload as Body[]).map(({ name, visibility, actions }) => [name, visibility, actions.length]),
    ).to.deep.equal([
      ['Macro 1', 'global', 5],
      ['Macro 2', 'global', 1],
    ]);
    expect(payload[0]).to.deep.include({
      created_by_id: await idOf(account, 'agents', 'Bob Theirs'),
      actions: [
        { action_name: 'assign_team', action_params: [team] },
        { action_name: 'assign_agent', action_params: ['self'] },
        { action_name: 'add_label', action_params: ['vip'] },
        { action_name: 'snooze_conversation', action_params: [31_536_000] },
        { action_name: 'send_message', action_params: ['Hello'] },
      ],
    });
    expect((await importing.run(account)).counts.macros).to.deep.equal({ ...all, created: 0, unchanged: 2 });
    expect((await read(account, 'macros')).payload).to.have.lengthOf(2);
  });
});
