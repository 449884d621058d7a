import { expect } from 'chai';
import type { FieldHome, Found } from '../support/field-clients.ts';
import { n8nRow } from '../support/field-n8n.ts';

const idsOf = (records: { id: number }[]): number[] => records.map(({ id }) => id);

const newDefinition = async ({ maker, app }: FieldHome) => {
  const key = maker.text('key').replaceAll(' ', '_');
  const definition = { attribute_key: key, attribute_model: 'conversation_attribute', attribute_display_name: 'Plan' };
  const id = await maker.post('custom_attribute_definitions', definition);
  return { id, key, at: { id }, app };
};

const words = {
  because: 'kinds are words',
  fails: true,
  finds: ({ status }: Found) => expect(status).to.equal(422),
} as const;
const defined = { attribute_display_name: 'Tariff', attribute_values: ['one', 'two'] };

const newResponse = async ({ maker, app }: FieldHome) => {
  const short_code = maker.text('code');
  const id = await maker.post('canned_responses', { short_code, content: 'Hello!' });
  return { id, short_code, at: { id }, app };
};

/** Definitions of custom attributes, and canned responses. */
export const definitionRows = [
  n8nRow({
    name: 'Custom Attributes: Get Account Custom Attribute',
    given: newDefinition,
    finds: (found: Found, { id }) => expect(idsOf(found)).to.include(id),
    inDefault: {
      because: 'the list is under `payload`',
      finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id),
    },
  }),
  n8nRow({
    name: 'Custom Attributes: Add New Custom Attribute To Account',
    given: () => ({ body: { ...defined, attribute_key: 'tariff', attribute_display_type: 6 } }),
    finds: (found: Found) =>
      expect(found).to.deep.include({
        ...defined,
        attribute_display_type: 'list',
        attribute_model: 'conversation_attribute',
      }),
    inDefault: words,
  }),
  n8nRow({
    name: 'Custom Attributes: Get Details Of A Single Custom Attribute',
    given: newDefinition,
    finds: (found: Found, { id, key }) => expect(found).to.include({ id, attribute_key: key }),
  }),
  n8nRow({
    name: 'Custom Attributes: Update Custom Attribute In Account',
    given: async (home) => {
      const made = await newDefinition(home);
      return { ...made, body: { attribute_key: made.key, attribute_display_name: 'Tariff' } };
    },
    finds: (found: Found, { id, key }) =>
      expect(found).to.deep.include({ id, attribute_key: key, attribute_display_name: 'Tariff', attribute_values: [] }),
    inDefault: words,
  }),
  n8nRow({
    name: 'Custom Attributes: Delete Custom Attribute From Account',
    given: newDefinition,
    finds: async (_, { id, app }) => expect((await app.get(`custom_attribute_definitions/${id}`)).status).to.equal(404),
  }),
  n8nRow({
    name: 'Canned Responses: List All Canned Responses In An Account',
    given: newResponse,
    finds: (found: Found, { id }) => expect(idsOf(found)).to.include(id),
    inDefault: {
      because: 'the list is under `payload`',
      finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id),
    },
  }),
  n8nRow({
    name: 'Canned Responses: Add A New Canned Response',
    given: ({ maker }) => ({ body: { short_code: maker.text('code'), content: 'Welcome!' } }),
    finds: (found: Found, { body }) => expect(found).to.include(body),
  }),
  n8nRow({
    name: 'Canned Response: Update Canned Response In Account',
    given: async (home) => {
      const made = await newResponse(home);
      return { ...made, body: { short_code: made.short_code, content: 'Goodbye!' } };
    },
    finds: (found: Found, { id, short_code }) => expect(found).to.include({ id, short_code, content: 'Goodbye!' }),
  }),
  n8nRow({
    name: 'Canned Responses: Remove A Canned Response From Account',
    given: newResponse,
    finds: async (_, { id, app }) => expect((await app.get(`canned_responses/${id}`)).status).to.equal(404),
  }),
];
