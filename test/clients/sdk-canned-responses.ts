import { expect } from 'chai';
import type { FieldHome, Found } from '../support/field-clients.ts';
import { sdkRow } from '../support/field-sdk.ts';

const idsOf = (records: { id: number }[]): number[] => records.map(({ id }) => id);

const newResponse = async ({ maker, app }: FieldHome) => {
  const short_code = maker.text('code');
  return { id: await maker.post('canned_responses', { short_code, content: 'Hello!' }), short_code, app };
};

export const cannedResponseRows = [
  sdkRow({
    name: 'cannedResponses.list',
    given: newResponse,
    finds: (found: Found, { id, short_code }) => {
      const one = found.find((response: Found) => response.id === id);
      expect(one).to.include({ account_id: 1, short_code, content: 'Hello!' });
      expect(one.created_at).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    },
    inDefault: {
      because: 'the list is under `payload`',
      finds: ({ payload }: Found, { id }) => expect(idsOf(payload)).to.include(id),
    },
  }),
  sdkRow({
    name: 'cannedResponses.create',
    given: ({ maker }) => ({ short_code: maker.text('code') }),
    sends: ({ short_code }) => ({ data: { short_code, content: 'Welcome!' } }),
    finds: (found: Found, { short_code }) => {
      expect(found).to.include({ account_id: 1, short_code, content: 'Welcome!' });
      expect(found.id).to.be.a('number');
    },
  }),
  sdkRow({
    name: 'cannedResponses.update',
    given: newResponse,
    sends: ({ id }) => ({ id, data: { content: 'Goodbye!' } }),
    finds: (found: Found, { id, short_code }) => expect(found).to.include({ id, short_code, content: 'Goodbye!' }),
  }),
  sdkRow({
    name: 'cannedResponses.delete',
    given: newResponse,
    sends: ({ id }) => ({ id }),
    finds: async (_, { id, app }) => expect((await app.get(`canned_responses/${id}`)).status).to.equal(404),
  }),
];
