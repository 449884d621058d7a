import type { Mutant } from './mutant.ts';

const sdk = 'test/clients/javascript-sdk.test.ts';
const node = 'test/clients/n8n-node.test.ts';
const tolerant = 'test/http/tolerant-reading.test.ts';

/** Mistakes that the clients of the field must show. */
export const fieldClients: readonly Mutant[] = [
  {
    file: 'src/http/route/read-request.ts',
    text: 'return findProblems(schema, {}).length === 0 ?',
    replacement: 'return findProblems(schema, {}).length > 0 ?',
    test: sdk,
    only: 'client.conversations.create',
    harm: 'Customers of the JavaScript SDK cannot begin a conversation.',
  },
  {
    file: 'src/http/route/read-request.ts',
    text: "ctx.get('transfer-encoding') === '' && Number(",
    replacement: 'Number(',
    test: tolerant,
    only: 'told from a body in parts',
    harm: 'Bodies that come in parts without a length are taken for nothing.',
  },
  {
    file: 'schemas/requests/client-message.create.json',
    text: '"maxLength": 255,\n      "x-left-out": [""]',
    replacement: '"maxLength": 255',
    test: node,
    only: 'Messages API: Create A Message',
    harm: 'Whoever leaves a field of the n8n node untouched cannot send a message.',
  },
  {
    file: 'schemas/shapes/visitor-profile.json',
    text: '"$ref": "../common.json#/$defs/phone_number",\n      "x-left-out": [""]',
    replacement: '"$ref": "../common.json#/$defs/phone_number"',
    test: node,
    only: 'Contacts API: Create A Contact',
    harm: 'Contacts without a phone number cannot be made by the n8n node.',
  },
  {
    file: 'src/http/route/tolerant-reading.ts',
    text: 'return [[name, nulls.includes(meant) ? null : meant]];',
    replacement: 'return [[name, nulls.includes(meant) ? value : meant]];',
    test: tolerant,
    only: '0 takes the assignee away',
    harm: 'Nobody can be unassigned by the clients that say 0.',
  },
  {
    file: 'src/http/route/authenticate.ts',
    text: "ctx.get('api-access-token')",
    replacement: "ctx.get('api-access-tokens')",
    test: node,
    only: 'Profile: Fetch Profile',
    harm: 'The n8n node is a stranger.',
  },
];
