import type { Mutant } from './mutant.ts';

const sdk = 'test/clients/javascript-sdk.test.ts';
const node = 'test/clients/n8n-node.test.ts';
const refusals = 'test/clients/refusals.test.ts';
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
    file: 'src/compat/chatwoot/json.ts',
    text: 'list.filter((value: unknown) => value !== null).map(String)',
    replacement: 'list.map(String)',
    test: node,
    only: 'Conversations: Conversation List',
    harm: 'The list of the n8n node is empty until somebody guesses that a label has to be emptied.',
  },
  {
    file: 'src/compat/chatwoot/agents.ts',
    text: "given['availability'] === 'available'",
    replacement: "given['availability'] === 'away'",
    test: node,
    only: 'Agents: Add New Agent To Account',
    harm: 'No agent can be added by the n8n node as it is.',
  },
  {
    file: 'src/compat/chatwoot/account-users.ts',
    text: ', answer: restOf }',
    replacement: ' }',
    test: sdk,
    only: 'platform.accountUsers.list',
    harm: 'The SDK finds no members of an account.',
  },
  {
    file: 'src/compat/chatwoot/serve.ts',
    text: "rest.startsWith('/accounts/') ? `/api/v1${rest}` : rest",
    replacement: 'rest',
    test: sdk,
    only: 'teams.addAgent',
    harm: 'Nobody can be put into a team by the JavaScript SDK.',
  },
  {
    file: 'src/compat/chatwoot/conversation-actions.ts',
    text: "return theirAgent(listOf(body).find((agent) => agent['id'] === id) ?? objectOf(assignee));",
    replacement: 'return record;',
    test: sdk,
    only: 'conversationAssignment.assign',
    harm: 'Whoever assigned a conversation finds no agent in the answer.',
  },
  {
    file: 'src/compat/chatwoot/message-records.ts',
    text: 'message_type: typeNumbers[String(type)] ?? type,',
    replacement: 'message_type: type,',
    test: sdk,
    only: 'messages.list',
    harm: 'Clients that compare the type with a number take every message for none of theirs.',
  },
  {
    file: 'src/compat/chatwoot/refusals.ts',
    text: "if (status === 403 && code === 'forbidden' && !isPublic)",
    replacement: "if (status === 402 && code === 'forbidden' && !isPublic)",
    test: refusals,
    only: 'may do what their role may',
    harm: 'Clients that know 401 alone take a refusal for a failure, and try again.',
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
