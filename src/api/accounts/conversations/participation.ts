import { readContact } from '../../../domain/contacts/contacts.ts';
import { readConversation } from '../../../domain/conversations/access.ts';
import { findParticipants } from '../../../domain/conversations/participants.ts';
import { mostTranscribed, transcriptOf } from '../../../domain/conversations/messages/transcript.ts';
import { findMessages } from '../../../records/messages/message.ts';
import { findSentFiles, type SentFile } from '../../../domain/conversations/messages/sent-files.ts';
import { attachmentRecords, senderRecord } from '../../../events/payloads.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { FileLinks } from '../../../lib/file-links.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';
import { presentPage } from '../../page.ts';
import { presentAgents } from '../people/inbox-members.ts';

const accounts = '/api/v1/accounts/:account_id';

function presentFile({ file, message }: SentFile, accountId: number, links: FileLinks): Shape<'resources/sent-file'> {
  const [attachment] = attachmentRecords({ ...message, attachments: [file] }, accountId, links);
  if (!attachment) throw new Error('A file without a record');
  return {
    attachment,
    conversation_id: message.conversationId,
    sender: senderRecord(message),
    created_at: unixSeconds(message.createdAt),
  };
}

/** Routes of the participants of conversations, and of the files that were sent in them. */
export const participationRoutes = [
  doors.account(
    ['GET', `${accounts}/conversations/:id/participants`, 'List the agents who take part in a conversation'],
    {
      reply: 'resources/inbox-agents',
      role: 'agent',
      description: 'Its assignee, and the agents who wrote in it, notes included.',
    },
    async ({ sql, account, actor, params }) => {
      const conversation = await readConversation(sql, account.id, actor, params.id);
      return presentAgents(sql, account.id, await findParticipants(sql, conversation));
    },
  ),
  doors.account(
    ['POST', `${accounts}/conversations/:id/transcript`, 'Send the transcript of a conversation by mail'],
    {
      body: 'requests/conversation.send-transcript',
      reply: 'resources/sent-transcript',
      role: 'agent',
      description: 'Its latest 500 public messages as text, without files; at most 15 transcripts a minute.',
    },
    {
      prepare: ({ services, account }) => services.countTranscript(account.id),
      handle: ({ services, actor, params, body, transact }) =>
        transact(async (tx) => {
          const conversation = await readConversation(tx.sql, tx.account.id, actor, params.id);
          const messages = await findMessages(tx.sql, tx.account.id, conversation.id, {
            publicOnly: true,
            limit: mostTranscribed,
          });
          const subject = `Transcript of your conversation with ${tx.account.name}`;
          const mail = { to: { name: '', address: body.email }, subject, text: transcriptOf(conversation, messages) };
          return { sent: services.mailText(tx, mail) };
        }),
    },
  ),
  doors.account(
    ['GET', `${accounts}/conversations/:id/attachments`, 'List the files of a conversation'],
    { query: 'requests/page.query', reply: 'resources/sent-file-list', paged: true, role: 'agent' },
    async ({ services, sql, account, actor, params, query: { page = 1 } }) => {
      const { id } = await readConversation(sql, account.id, actor, params.id);
      const files = await findSentFiles(sql, { accountId: account.id, actor }, { of: 'conversation', id, page });
      return presentPage(files, (file) => presentFile(file, account.id, services.fileLinks));
    },
  ),
  doors.account(
    ['GET', `${accounts}/contacts/:id/attachments`, 'List the files of the conversations of a contact'],
    {
      query: 'requests/page.query',
      reply: 'resources/sent-file-list',
      paged: true,
      role: 'agent',
      description: 'Of the conversations that the caller may see.',
    },
    async ({ services, sql, account, actor, params, query: { page = 1 } }) => {
      const { id } = await readContact(sql, account.id, actor, params.id);
      const files = await findSentFiles(sql, { accountId: account.id, actor }, { of: 'contact', id, page });
      return presentPage(files, (file) => presentFile(file, account.id, services.fileLinks));
    },
  ),
];
