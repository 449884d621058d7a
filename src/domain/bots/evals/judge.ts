import type { Shape } from '../../../schemas.ts';

/** End of a trial, before it is judged. */
export type TrialEnd = Omit<Shape<'resources/bot-trial'>, 'passed' | 'got'>;
type Expectation = NonNullable<Shape<'requests/bot.try'>['expect']>;
type Passage = NonNullable<TrialEnd['usage']>['passages'][number];

/** Whether a bot did what was expected, and what it did. */
export interface Judgement {
  /** Null where nothing was expected. */
  passed: boolean | null;
  /** In words. */
  got: string;
}

const maxGotChars = 400;
const sound = new Set(['ok', 'no_handler']);
/** A marker of a source in an answer. */
const marker = /\[(?:\d{1,3}(?:\s*,\s*\d{1,3})*|tool)\]/;

/**
 * Judges what a bot did with a question. `knows` tells whether it answers from articles: then only what cites one is an
 * answer.
 */
export function judge(trial: TrialEnd, expect: Expectation | undefined, knows: boolean): Judgement {
  const deed = deedOf(trial, knows);
  const passed = expect ? !deed.failed && isAsExpected(deed, expect) : null;
  return { passed, got: describe(trial, deed).slice(0, maxGotChars).toWellFormed() };
}

interface Deed {
  text: string;
  failed: boolean;
  handedOff: boolean;
  cites: boolean;
  /** Articles that the replies name. */
  named: Passage[];
  offers: boolean;
  answered: boolean;
}

function deedOf({ outcome, replies, handed_off: handedOff, usage }: TrialEnd, knows: boolean): Deed {
  const text = replies.map(({ content }) => content).join('\n');
  const { sources, isOffer, isGrounded } = marksOf(replies);
  const found = new Map((usage?.passages ?? []).map((passage) => [passage.article_id, passage]));
  const named = [...found.values()].filter((passage) => sources.includes(passage.article_id) || isNamed(passage, text));
  const cites = !isOffer && (isGrounded || marker.test(text));
  const offers = !handedOff && (isOffer || (!cites && named.length > 0));
  const answered = !handedOff && !offers && text.trim() !== '' && (cites || !knows);
  return { text, failed: !sound.has(outcome), handedOff, cites, named, offers, answered };
}

/** The marks of AI bots on their replies: articles that they cite or offer, by their ids, and results of tools. Other bots have none. */
function marksOf(replies: TrialEnd['replies']): { sources: unknown[]; isOffer: boolean; isGrounded: boolean } {
  const marked = replies.map(({ content_attributes: attributes }) => attributes);
  const sources = marked.flatMap(({ sources: ids }) => (Array.isArray(ids) ? (ids as unknown[]) : []));
  const isGrounded = sources.length > 0 || marked.some(({ tool }) => tool === true);
  return { sources, isOffer: marked.some(({ offer }) => offer === true), isGrounded };
}

/** Whether a reply names an article, in its list of sources or as an offer: by the URL, or by the title in a line of its own. */
function isNamed({ title, url }: Passage, text: string): boolean {
  if (url !== null && text.includes(url)) return true;
  const lines = text.split('\n').map((line) => line.replace(/^\[\d+\] /, ''));
  return lines.some((line) => line === title || line.startsWith(`${title}: `) || line.endsWith(`: ${title}`));
}

function isAsExpected(deed: Deed, expect: Expectation): boolean {
  const { article, contains, handoff, answered, small_talk: isTalk } = expect;
  const { text, handedOff, cites, offers, named } = deed;
  if (article !== undefined) return !handedOff && named.some((passage) => isCalled(passage, article));
  if (contains !== undefined) return contains.every((part) => text.toLowerCase().includes(part.toLowerCase()));
  if (handoff !== undefined) return handedOff === handoff;
  if (answered !== undefined) return !handedOff && deed.answered === answered;
  return (text.trim() !== '' && !handedOff && !cites && !offers) === isTalk;
}

function isCalled({ title, url }: Passage, name: string): boolean {
  return title.trim().toLowerCase() === name.trim().toLowerCase() || url === name.trim();
}

function describe({ outcome, error, handoff_reason: reason, tools }: TrialEnd, deed: Deed): string {
  const called = tools.length === 0 ? '' : ` (tools: ${tools.map(tellTool).join(', ')})`;
  const titles = deed.named.map(({ title }) => title).join(', ');
  const said = JSON.stringify(deed.text);
  // The first line: a stack is below it.
  if (deed.failed) return `failed: ${outcome}${error ? `, ${error.split('\n', 1)[0]}` : ''}`;
  if (deed.handedOff) return `handed off: ${reason ?? 'no reason'}${called}`;
  if (deed.offers) return `offered: ${titles}`;
  if (deed.text.trim() === '') return 'no reply';
  return deed.cites ? `answered from ${titles || 'no article'}${called}: ${said}` : `replied${called}: ${said}`;
}

function tellTool({ name, error }: TrialEnd['tools'][number]): string {
  return error === null ? name : `${name} ${error}`;
}
