import { expect } from 'chai';
import { configOf, draftsOf, edited, hasPlainConditions } from '../../web/console/pages/automations/rule-draft.ts';

const spam = '{"attribute": "labels", "operator": "equal_to", "values": ["spam"]}';
// As JSON: `then` makes an object of the code look like a promise.
const ofJson = (text: string): object[] => JSON.parse(text) as object[];

describe('rules while they are edited', () => {
  it('keep what was not edited, as it is stored', () => {
    const rules = ofJson(`[
      {"name": "Both", "active": true, "on": ["message_created"],
        "if": {"all": [${spam}], "any": [${spam}]}, "then": [{"action": "resolve"}]},
      {"name": "Empty", "active": true, "on": ["message_created"],
        "if": {"all": [${spam}], "any": []}, "then": [{"action": "open"}]},
      {"name": "Values", "active": false, "on": ["contact_created"], "then": [
        {"action": "attributes", "attributes": {"zip": "01234", "seats": "42", "gone": null, "list": [1]}}]}]`);
    const drafts = draftsOf({ rules });
    expect(configOf(drafts)).to.deep.equal({ rules });
    expect(drafts.map(hasPlainConditions)).to.deep.equal([false, true, true]);
    const renamed = drafts.map((draft) => edited(draft, { name: 'Renamed', active: true }));
    expect(configOf(renamed).rules).to.deep.equal(rules.map((rule) => ({ ...rule, name: 'Renamed', active: true })));
  });

  it('store numbers as numbers, and texts that a number would change as texts', () => {
    const [draft] = draftsOf({ rules: ofJson('[{"name": "A", "on": [], "then": []}]') });
    const stored = (typed: string) => {
      const { rules } = configOf([edited(draft!, { actions: [{ kind: 'attributes', values: ['key', typed] }] })]);
      const [action] = rules[0]!['then'] as { attributes: { key: unknown } }[];
      return action!.attributes.key;
    };
    const typed = ['12', '-3.5', 'true', '0', '01', '01234', '12345678901234567890', '1e3', '', 'Infinity', 'yes'];
    expect(typed.map(stored)).to.deep.equal([
      12,
      -3.5,
      true,
      0,
      '01',
      '01234',
      '12345678901234567890',
      '1e3',
      '',
      'Infinity',
      'yes',
    ]);
  });

  it('are read from settings of any form', () => {
    const rules = ofJson(
      '[null, 5, {"on": 5, "if": "x", "then": {}}, {"then": [null, {"action": "add_labels", "labels": "vip"}]}]',
    );
    for (const config of [{}, { rules: 'x' }, { rules }, { rules: [{ if: { all: [{ values: 'vip' }] } }] }])
      expect(() => configOf(draftsOf(config)), JSON.stringify(config)).to.not.throw();
  });
});
