import { expect } from 'chai';
import { bases, playClient, startField, type BaseName, type FieldHome } from '../support/field-clients.ts';
import { connectSdk, operationsOfSdk, type SdkError } from '../support/field-sdk.ts';
import { accountRows } from './sdk-account.ts';
import { cannedResponseRows } from './sdk-canned-responses.ts';
import { conversationRows } from './sdk-conversations.ts';
import { outerRows } from './sdk-outer.ts';

const table = [...accountRows, ...cannedResponseRows, ...conversationRows, ...outerRows];

/** What the service has none of. */
const absent = [
  'automationRule.create',
  'automationRule.delete',
  'automationRule.get',
  'automationRule.list',
  'automationRule.update',
  'integrations.create',
  'integrations.delete',
  'integrations.list',
  'integrations.update',
  'platform.users.getSSOUrl',
  'reports.getAgentMetrics',
  'reports.getMetrics',
  'reports.list',
  'reports.listSummaries',
];
/** Operations that are served, and played by test/compat/chatwoot/custom-filters.test.ts. */
const playedElsewhere = [
  'customFilters.create',
  'customFilters.delete',
  'customFilters.get',
  'customFilters.list',
  'customFilters.update',
];
/** A path that Chatwoot does not have either: with the inbox in the path of a DELETE. */
const misplaced = ['inboxes.removeAgent'];
/** Another name of `platform.agentBots` and `platform.users`. */
const doubled = /^(?:agentBots|users)\./;

playClient('The JavaScript SDK', table, ({ url, token }) => connectSdk(url, token));

describe('The JavaScript SDK', () => {
  it('has no operation that is neither in its table nor known to be absent', () => {
    const played = new Set(table.map(({ name }) => name.replace(/#.*$/, '')));
    expect(played.size).to.equal(88);
    const all = operationsOfSdk().filter((name) => !doubled.test(name));
    expect(all.toSorted()).to.deep.equal([...played, ...playedElsewhere, ...absent, ...misplaced].toSorted());
  });

  for (const base of Object.keys(bases) as BaseName[]) {
    describe(`at the ${base}, what is not there`, () => {
      let home: FieldHome;
      before(async () => {
        home = await startField(base);
      });
      after(() => home.app.stop());

      for (const name of [...absent, ...misplaced])
        it(`${name} is answered so, and changes nothing`, async () => {
          const somewhere = { accountId: 1, id: 1, teamId: 1, inboxId: 1, hookId: 1 };
          await home.app.events();
          const error = await connectSdk(home.url, home.token)(name, { ...somewhere, data: {} }).then(
            () => expect.fail('It must be refused'),
            (thrown: SdkError) => thrown,
          );
          expect(error.status).to.be.oneOf([404, 405]);
          expect(error.body.error).to.be.a('string');
          expect(await home.app.eventNames()).to.deep.equal([]);
        });
    });
  }
});
