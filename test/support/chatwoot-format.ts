import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { verify, type Received } from './receiver.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Throws unless the post is signed as the field's leader signs, and as Standard Webhooks, by the secret. */
export function verifyBoth(secret: string, post: Received): void {
  verify(secret, post);
  expect(isSignedLikeTheirs(secret, post), 'X-Chatwoot-Signature').to.equal(true);
  expect(post.headers['x-chatwoot-delivery']).to.match(uuid);
  expect(post.headers['x-chatwoot-timestamp']).to.equal(post.headers['webhook-timestamp']);
}

/** As its receivers verify: the key is the secret as it is shown. */
export function isSignedLikeTheirs(secret: string, { headers, text }: Received): boolean {
  const mac = createHmac('sha256', secret).update(`${String(headers['x-chatwoot-timestamp'])}.${text}`);
  return headers['x-chatwoot-signature'] === `sha256=${mac.digest('hex')}`;
}

// Typed `any`: tests name what they read.
// oxlint-disable-next-line typescript/no-explicit-any
type Body = any;

/** The body as JSON. */
export function bodyOf({ text }: Received): Body {
  return JSON.parse(text);
}

/** What a bridge takes from a webhook, by the fields that it reads. */
export const bridges = {
  /** Evolution API's module: an agent's word goes to the contact's phone, a deletion deletes it there. */
  evolution: (body: Body) => ({
    event: body.event,
    isNote: body.private,
    type: body.message_type,
    deletes: body.content_attributes?.deleted ?? false,
    id: body.id,
    content: body.content,
    inbox: body.inbox?.name,
    conversation: body.conversation?.id,
    to: body.conversation?.meta.sender.identifier,
    phone: body.conversation?.meta.sender.phone_number,
    source: body.conversation?.contact_inbox?.source_id,
    messages: body.conversation?.messages.map((message: Body) => ({
      id: message.id,
      source: message.source_id,
      by: message.sender?.available_name,
      files: message.attachments?.map((file: Body) => [file.data_url, file.file_type]),
    })),
  }),
  /** WAHA's app: text, files, what is answered, and when. */
  waha: (body: Body) => ({
    type: body.content_type,
    files: body.attachments?.map((file: Body) => [file.data_url, file.file_type]),
    answers: body.content_attributes.in_reply_to,
    at: new Date(body.created_at).getTime(),
  }),
  /** Botpress' bridge: who spoke, and where to answer. */
  botpress: (body: Body) => ({
    isCustomer: body.event === 'message_created' && body.message_type === 'incoming',
    content: body.content,
    status: body.conversation.status,
    account: body.account.id,
    conversation: body.conversation.id,
  }),
};
