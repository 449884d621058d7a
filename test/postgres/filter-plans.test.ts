import type { Sql } from '../../src/postgres/sql.ts';
import { expect } from 'chai';
import { filterContacts, searchContacts } from '../../src/domain/contacts/search.ts';
import { filterConversations } from '../../src/domain/conversations/finding/filtering.ts';
import { findConversationsOf } from '../../src/domain/conversations/finding/of-contacts.ts';
import type { Condition } from '../../src/postgres/conditions.ts';
import { administrator, agent, fullScansOf, openPlanned } from '../support/planned-database.ts';
import { indexesOf, plansOf } from '../support/plans.ts';

describe('plans of filters', function () {
  this.timeout(600_000);
  let sql: Sql;
  let drop: () => Promise<void>;

  before(async () => {
    ({ sql, drop } = await openPlanned());
  });

  after(() => drop());

  it('contacts are searched for a part of their identifier by trigrams', async () => {
    const plans = await plansOf(sql, async () => {
      const { count } = await searchContacts(sql, 1, { text: '19777@S.example', page: 1 });
      expect(count).to.equal(1);
    });
    expect(fullScansOf(plans)).to.deep.equal([]);
    expect(indexesOf(plans[0]!)).to.deep.equal(['contacts_by_text']);
  });

  const condition = (key: string, operator: Condition['operator'], ...values: string[]): Condition => ({
    key,
    operator,
    values,
    isAttribute: false,
    joins: 'OR',
    pointer: '',
  });
  const contactFilters: [string, string[], Condition[]][] = [
    ['a phone number', ['contacts_by_phone_number'], [condition('phone_number', 'equal_to', '14151000007')]],
    ['an e-mail address', ['contacts_by_email'], [condition('email', 'equal_to', 'NOBODY@example.com')]],
    ['an identifier', ['contacts_identifier_unique'], [condition('identifier', 'equal_to', '777@s.example')]],
    ['a part of a name', ['contacts_by_text'], [condition('name', 'contains', 'tomer 1999')]],
    ['an attribute', ['contacts_by_attributes'], [condition('chat', 'equal_to', '777@c.us')]],
    [
      'a number or an identifier',
      ['contacts_by_phone_number', 'contacts_identifier_unique'],
      [condition('phone_number', 'equal_to', '+14151000007'), condition('identifier', 'equal_to', '777@s.example')],
    ],
  ];
  for (const [what, indexes, conditions] of contactFilters) {
    it(`contacts are filtered by ${what} from ${indexes.join(' and ')}, the account’s own alone`, async () => {
      const [found] = await plansOf(sql, () => filterContacts(sql, 1, { conditions, page: 1 }));
      expect(fullScansOf([found!])).to.deep.equal([]);
      expect(indexesOf(found!).toSorted()).to.deep.equal(indexes.toSorted());
      expect(found!.rows).to.be.at.most(300);
    });
  }

  it('conversations are filtered by contact and by inbox from their indexes, for whom they may be seen', async () => {
    for (const actor of [administrator, agent]) {
      const filters: [string, Condition][] = [
        ['conversations_by_contact', condition('contact_id', 'equal_to', '77')],
        ['conversations_by_inbox', condition('inbox_id', 'equal_to', '11')],
      ];
      for (const [index, one] of filters) {
        const scope = { accountId: 1, actor };
        const [found] = await plansOf(sql, () => filterConversations(sql, scope, { conditions: [one], page: 1 }));
        expect(fullScansOf([found!])).to.deep.equal([]);
        expect(indexesOf(found!)).to.include(index);
        expect(found!.rows).to.be.at.most(2_000);
      }
    }
  });

  it('conversations of found contacts are read from their index', async () => {
    for (const actor of [administrator, agent]) {
      const scope = { accountId: 1, actor };
      const [found] = await plansOf(sql, () => findConversationsOf(sql, scope, { contactIds: [77, 78, 79], most: 15 }));
      expect(fullScansOf([found!])).to.deep.equal([]);
      expect(indexesOf(found!)).to.include('conversations_by_contact');
    }
  });
});
