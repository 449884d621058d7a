import type { ComponentChildren } from 'preact';
import type { Reply } from '../../../shared/call.ts';
import { Facts } from '../../kit/facts.tsx';
import { useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';
import type { Conversation } from './words.tsx';

export type Definition = Reply<'GET custom_attribute_definitions'>['payload'][number];
type Attributes = Readonly<Record<string, unknown>>;
type Fact = readonly [name: string, value: ComponentChildren];

/** The definitions of the account's custom attributes; none until they are known. */
export function useDefinitions(): readonly Definition[] {
  return useLoad(readDefinitions).value ?? [];
}

async function readDefinitions(signal: AbortSignal): Promise<Definition[]> {
  const all: Definition[] = [];
  for (let page = 1; ; page += 1) {
    const { payload, meta } = await call('GET custom_attribute_definitions', { query: { page }, signal });
    all.push(...payload);
    if (page >= meta.total_pages) return all;
  }
}

/** Custom attributes of a conversation; nothing where it has none. */
export function ConversationAttributes({
  conversation: { custom_attributes: attributes },
  definitions,
}: {
  conversation: Conversation;
  definitions: readonly Definition[];
}) {
  if (Object.keys(attributes).length === 0) return null;
  return (
    <section class="panel" aria-labelledby="attributes">
      <h2 id="attributes">Attributes</h2>
      <Facts facts={attributeFacts(attributes, definitions, 'conversation_attribute')} />
    </section>
  );
}

/** Custom attributes by the names of their definitions, and as what these say they are. */
export function attributeFacts(
  attributes: Attributes,
  definitions: readonly Definition[],
  model: Definition['attribute_model'],
): Fact[] {
  return Object.entries(attributes).map(([key, value]) => {
    const definition = find(definitions, model, key);
    return [definition?.attribute_display_name ?? key, shown(value, definition?.attribute_display_type ?? 'text')];
  });
}

/** Attributes that visitors set themselves. Their links stay text, as strangers wrote them. */
export function visitorFacts(attributes: Attributes, definitions: readonly Definition[]): Fact[] {
  return Object.entries(attributes).map(([key, value]) => {
    const name = find(definitions, 'contact_attribute', key)?.attribute_display_name ?? key;
    return [`${name} (unverified)`, textOf(value)];
  });
}

function find(definitions: readonly Definition[], model: string, key: string): Definition | undefined {
  return definitions.find((one) => one.attribute_model === model && one.attribute_key === key);
}

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 20 });
const amounts = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 20 });
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

// Nothing is held against a definition: what is not of its type is shown as it is.
function shown(value: unknown, type: Definition['attribute_display_type']): ComponentChildren {
  if (type === 'checkbox' && typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return numberOf(value, type);
  if (type === 'link' && isWebAddress(value)) return <Link url={value} />;
  if (type === 'date' && typeof value === 'string') return <Day text={value} />;
  return textOf(value);
}

function numberOf(value: number, type: Definition['attribute_display_type']): string {
  if (type === 'currency') return amounts.format(value);
  if (type === 'percent') return `${numbers.format(value)} %`;
  return type === 'number' ? numbers.format(value) : String(value);
}

function isWebAddress(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

function Link({ url }: { url: string }) {
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      {url}
    </a>
  );
}

// A day is the same everywhere; a moment is shown in the time of who looks.
function Day({ text }: { text: string }) {
  const moment = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(moment.getTime())) return <>{text}</>;
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  return (
    <time dateTime={moment.toISOString()} title={text}>
      {(isDay ? days : moments).format(moment)}
    </time>
  );
}

function textOf(value: unknown): string {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
