import { expect } from 'chai';
import { bases, playClient, startField, type BaseName, type FieldHome } from '../support/field-clients.ts';
import { connectN8n, n8nAbsent, N8nError, n8nOperations } from '../support/field-n8n.ts';
import { accountRows } from './n8n-account.ts';
import { conversationRows } from './n8n-conversations.ts';
import { definitionRows } from './n8n-definitions.ts';

const table = [...accountRows, ...conversationRows, ...definitionRows];

// The node itself needs all of n8n beside it; so its descriptions are replayed, from which it makes its requests.
playClient('The n8n node', table, ({ url, token }) => connectN8n(url, token));

describe('The n8n node', () => {
  it('has no operation that is neither in its table nor known to be absent', () => {
    const played = new Set(table.map(({ name }) => name.replace(/#.*$/, '')));
    expect([...played].toSorted()).to.deep.equal(n8nOperations.toSorted());
    expect([played.size, n8nAbsent.length]).to.deep.equal([90, 20]);
  });

  for (const base of Object.keys(bases) as BaseName[]) {
    describe(`at the ${base}`, () => {
      let home: FieldHome;
      before(async () => {
        home = await startField(base);
      });
      after(() => home.app.stop());

      it('finds out whether its address is right, without a token', async () => {
        const response = await fetch(`${home.url}/api`, { headers: { 'Api-Access-Token': '' } });
        expect(response.status).to.equal(200);
        expect(await response.json()).to.include.keys('version', 'timestamp');
      });

      it('is told of what is not there, and nothing changes', async () => {
        await home.app.events();
        for (const name of n8nAbsent) {
          const error = await connectN8n(home.url, home.token)(name, {}).catch((thrown: unknown) => thrown);
          expect(error, name).to.be.instanceOf(N8nError);
          expect((error as N8nError).status, name).to.be.oneOf([404, 405]);
        }
        expect(await home.app.eventNames()).to.deep.equal([]);
      });
    });
  }
});
