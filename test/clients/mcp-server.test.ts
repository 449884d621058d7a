import { expect } from 'chai';
import { operation, playClient, type FieldHome, type Found } from '../support/field-clients.ts';
import { startChatwootMcp, type McpClient, type ToolAnswer } from '../support/mcp-client.ts';
import { addPerson } from '../support/people.ts';

const started: McpClient[] = [];

async function connect(url: string, token: string): Promise<McpClient> {
  const client = await startChatwootMcp(url, token);
  started.push(client);
  return client;
}

const spoken = async ({ maker, inbox, agent }: FieldHome) => {
  const contact = await maker.contact({ email: 'ada@example.com', phone_number: '+14155552671' });
  const id = await maker.conversation(inbox, { contact_id: contact, assignee_id: agent.id });
  const message = await maker.message(id, { content: 'Where is my order?' });
  return { id, contact, inbox, agent, message, maker };
};

const textOf = ({ content }: ToolAnswer): string => content.map(({ text }) => text).join('\n');
const about = (id: number, more: object = {}): object => ({ account_id: 1, conversation_id: id, ...more });
const asJson = { response_format: 'json' };

const table = [
  operation({
    name: 'chatwoot_list_conversations',
    given: spoken,
    call: (client: McpClient, { inbox }) =>
      client.call('chatwoot_list_conversations', { account_id: 1, inbox_id: inbox, ...asJson }),
    finds: ({ structuredContent: found }: Found, { id, contact, inbox, agent }) => {
      expect(found.conversations[0]).to.deep.include({
        id,
        inbox_id: inbox,
        status: 'open',
        contact: { id: contact, name: found.conversations[0].contact.name, email: 'ada@example.com' },
        assignee: { id: agent.id, name: 'Ann Agent' },
        unread_count: 1,
      });
      expect(found.conversations[0].contact.name).to.match(/^Field contact/);
      expect(found.meta).to.include({ all_count: 1, mine_count: 0, unassigned_count: 0 });
    },
  }),
  operation({
    name: 'chatwoot_list_conversations, as text',
    given: spoken,
    call: (client: McpClient) => client.call('chatwoot_list_conversations', { account_id: 1, assignee_type: 'me' }),
    finds: (found: ToolAnswer) => expect(textOf(found)).to.equal('No open conversations found.'),
  }),
  operation({
    name: 'chatwoot_get_conversation',
    given: spoken,
    call: (client: McpClient, { id }) => client.call('chatwoot_get_conversation', about(id, asJson)),
    finds: ({ structuredContent: found }: Found, { id, contact, agent }) => {
      expect(found).to.deep.include({ id, status: 'open', labels: [], custom_attributes: {} });
      expect(found.contact).to.include({ id: contact, email: 'ada@example.com', phone_number: '+14155552671' });
      expect(found.assignee).to.include({ id: agent.id, name: 'Ann Agent' });
      expect(found.last_activity_at).to.be.closeTo(Date.now() / 1000, 60);
    },
  }),
  operation({
    name: 'chatwoot_list_messages',
    given: spoken,
    call: (client: McpClient, { id }) => client.call('chatwoot_list_messages', about(id, asJson)),
    finds: ({ structuredContent: found }: Found, { message, contact }) => {
      expect(found.messages).to.have.lengthOf(1);
      expect(found.messages[0]).to.deep.include({ id: message, content: 'Where is my order?', attachments: [] });
      expect(found.messages[0].sender.id).to.equal(contact);
      expect(found.messages[0].created_at).to.be.closeTo(Date.now() / 1000, 60);
    },
  }),
  operation({
    name: 'chatwoot_create_message',
    given: spoken,
    call: (client: McpClient, { id }) => client.call('chatwoot_create_message', about(id, { content: 'It is coming' })),
    finds: async (found: ToolAnswer, { id, maker }) => {
      const { payload } = await maker.call('GET', `conversations/${id}/messages`);
      const sent = payload.at(-1);
      expect(sent).to.include({ content: 'It is coming', message_type: 'outgoing', private: false });
      expect(textOf(found)).to.equal(`Message #${sent.id} created successfully in conversation #${id}`);
      expect(found.structuredContent).to.include({ id: sent.id, content: 'It is coming' });
    },
    says: ['message_created'],
  }),
  operation({
    name: 'chatwoot_create_message, a note',
    given: spoken,
    call: (client: McpClient, { id }) =>
      client.call('chatwoot_create_message', about(id, { content: 'A note', private: true })),
    finds: async (_, { id, maker }) => {
      const { payload } = await maker.call('GET', `conversations/${id}/messages`);
      expect(payload.at(-1)).to.include({ content: 'A note', private: true });
    },
    says: ['message_created'],
  }),
  operation({
    name: 'a conversation that is not there',
    call: (client: McpClient) => client.call('chatwoot_get_conversation', about(999_999)),
    finds: (found: ToolAnswer) =>
      expect(textOf(found)).to.equal('Error: Resource not found. Please check the ID is correct.'),
  }),
  operation({
    name: 'a token that is none',
    given: async ({ url }) => ({ stranger: await connect(url, 'nobody') }),
    call: (_: McpClient, { stranger }) => stranger.call('chatwoot_list_conversations', { account_id: 1 }),
    finds: (found: ToolAnswer) =>
      expect(textOf(found)).to.equal('Error: Authentication failed. Please check your API access token.'),
  }),
  operation({
    name: 'a conversation of an inbox that is not the caller’s',
    given: async (home) => {
      const outsider = await addPerson(home.app, { name: `Outsider ${home.maker.text('x')}` });
      return { ...(await spoken(home)), outsider: await connect(home.url, outsider.headers.api_access_token) };
    },
    call: (_: McpClient, { outsider, id }) => outsider.call('chatwoot_create_message', about(id, { content: 'x' })),
    finds: (found: ToolAnswer) =>
      expect(textOf(found)).to.equal('Error: Authentication failed. Please check your API access token.'),
    inDefault: {
      because: 'who may not is told by 403',
      finds: (found: ToolAnswer) =>
        expect(textOf(found)).to.equal("Error: Permission denied. You don't have access to this resource."),
    },
  }),
];

/** Ends the servers that were started. */
async function stopAll(): Promise<void> {
  await Promise.all(started.splice(0).map((client) => client.stop()));
}

playClient('The MCP server', table, ({ url, token }) => connect(url, token), stopAll);

describe('The MCP server', () => {
  after(stopAll);

  it('has no tool that is not in its table', async () => {
    const tools = await (await connect('http://127.0.0.1:9', 'nobody')).tools();
    const played = table.map(({ name }) => name.split(',')[0]!).filter((name) => name.startsWith('chatwoot_'));
    expect(tools).to.have.members([...new Set(played)]);
  });
});
