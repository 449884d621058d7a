import type { Reply } from '../../../shared/call.ts';
import { currentAccount, session } from '../../session.ts';
import type { Conversation } from './words.tsx';

/** Values of variables by name, such as `contact.name`. Variables without a value are missing. */
export type Variables = ReadonlyMap<string, string>;

/** Piece of a filled-in text; `isMissing` marks a variable that has no value and stays in braces. */
export interface Piece {
  text: string;
  isMissing: boolean;
}

interface Sources {
  conversation: Conversation;
  /** Null while it is not loaded: then name and email alone are known. */
  contact: Reply<'GET contacts/:id'> | null;
  inboxName: string | null;
}

const placeholder = /\{\{[^{}]*\}\}/g;

/** Returns the variables of a message that the signed-in person writes in a conversation, by the names that Chatwoot uses. */
export function variablesOf({ conversation, contact, inboxName }: Sources): Variables {
  const { id, inbox_id: inboxId, custom_attributes: attributes } = conversation;
  const phone = contact?.phone_number;
  const values: [string, unknown][] = [
    ...personVariables('contact', contact ?? conversation.contact),
    ['contact.id', conversation.contact.id],
    ['contact.phone', phone],
    ['contact.phone_number', phone],
    ...attributeVariables('contact', contact?.custom_attributes ?? {}),
    ['conversation.id', id],
    ['conversation.display_id', id],
    ...attributeVariables('conversation', attributes),
    ...personVariables('agent', session.value.state === 'in' ? session.value.profile : {}),
    ['inbox.id', inboxId],
    ['inbox.name', inboxName],
    ['account.name', currentAccount()?.name],
  ];
  return new Map(values.map(([name, value]) => [name, textOf(value)] as const).filter(([, text]) => text !== ''));
}

/** Fills variables into a text: `{{contact.name}}`, or `{{contact.name | default: "there"}}` with a text to fall back on. */
export function fillIn(template: string, variables: Variables): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: found, index } of template.matchAll(placeholder)) {
    const value = valueOf(found.slice(2, -2), variables);
    pieces.push({ text: template.slice(end, index), isMissing: false });
    pieces.push({ text: value ?? found, isMissing: value === null });
    end = index + found.length;
  }
  pieces.push({ text: template.slice(end), isMissing: false });
  return pieces.filter(({ text }) => text !== '');
}

/** Returns the variables in a text that are not filled in, each once, with their braces. */
export function unfilledIn(text: string): string[] {
  return [...new Set(text.match(placeholder) ?? [])];
}

function valueOf(expression: string, variables: Variables): string | null {
  const [name = '', ...filters] = expression.split('|');
  const value = variables.get(name.trim());
  if (filters.length === 0) return value ?? null;
  const fallback = filters.length === 1 ? /^default:\s*(["'])(.*)\1$/s.exec(filters[0]?.trim() ?? '')?.[2] : undefined;
  return fallback === undefined ? null : (value ?? fallback);
}

function personVariables(
  who: 'contact' | 'agent',
  { name = '', email }: { name?: string; email?: string | null },
): [string, unknown][] {
  const [first, ...others] = name.trim().split(/\s+/);
  return [
    [`${who}.name`, name],
    [`${who}.first_name`, first],
    [`${who}.last_name`, others.at(-1)],
    [`${who}.email`, email],
  ];
}

function attributeVariables(
  of: 'contact' | 'conversation',
  attributes: Readonly<Record<string, unknown>>,
): [string, unknown][] {
  return Object.entries(attributes).map(([key, value]) => [`${of}.custom_attribute.${key}`, value]);
}

function textOf(value: unknown): string {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value).trim() : '';
}
