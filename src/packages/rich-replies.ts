// Types of what bots send beside text: part of `switchboard/bot` (bot-api.ts). It imports nothing.

/** A choice of the customer. `{ title: 'Basic plan', value: 'basic' }` */
export interface ChoiceItem {
  /** The text of the button, at most 255 characters. */
  title: string;
  /** Comes back as `ctx.message.content_attributes.submitted_values`; at most 255 characters. */
  value: string | number;
}

/**
 * A button of a card: a link that opens in a new tab, or a choice.
 * `{ type: 'link', text: 'See it', uri: 'https://shop.example/lamp' }`, `{ type: 'postback', text: 'Order', payload: 'lamp' }`
 */
export type CardAction =
  | { type: 'link'; text: string; uri: string }
  | { type: 'postback'; text: string; payload: string };

/** A card. `{ title: 'Lamp', description: 'Bright', media_url: 'https://shop.example/lamp.png', actions: [] }` */
export interface Card {
  title: string;
  /** At most 2,000 characters. */
  description?: string;
  /** A picture, to which the card links. */
  media_url?: string;
  /** At most 5. */
  actions?: readonly CardAction[];
}

/**
 * A file of a reply: one that the service gets from a host of `permissions.network.hosts`, or one that it has.
 * `{ url: 'https://files.shop.example/17.pdf', name: 'invoice.pdf' }`, `{ file: ctx.message.attachments[0].id }`
 */
export type ReplyFile =
  | {
      /** https only; no redirect is followed. */
      url: string;
      /** Default: the last part of the URL. */
      name?: string;
    }
  | {
      /** The id of a file of a public message of the conversation, or of one that the bot has sent. */
      file: number;
      name?: string;
    };

/** A reply beside its text. A reply has `input_select` or `cards`, or neither. */
export interface ReplyOptions {
  /** 1 to 50 choices. `{ items: [{ title: 'Yes', value: 'yes' }, { title: 'No', value: 'no' }] }` */
  input_select?: { items: readonly ChoiceItem[] };
  /** 1 to 10 cards. `{ items: [{ title: 'Lamp', actions: [{ type: 'postback', text: 'Order', payload: 'lamp' }] }] }` */
  cards?: { items: readonly Card[] };
  /** At most 10 in a run. `[{ url: 'https://files.shop.example/invoices/17.pdf' }]` */
  attachments?: readonly ReplyFile[];
  /** Default `text`; `input_email` asks for an email address. */
  content_type?: 'text' | 'input_select' | 'input_email' | 'cards';
  /** Fields of the message for programs; also `items`, in place of `input_select` and `cards`. */
  content_attributes?: Record<string, unknown>;
}

/** Why a bot may say that it hands off; the other reasons are the service's to give. */
export type HandoffCause = 'keyword' | 'max_exchanges' | 'requested_by_model' | 'model_failed' | 'no_answer' | 'budget';

export type Priority = 'urgent' | 'high' | 'medium' | 'low';
