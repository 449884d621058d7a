import type { Passage } from 'switchboard/bot';
import { settle, type Outcome, type Reply } from './answer.ts';
import { cleanText, cleanTitle } from './clean-text.ts';
import { extract } from './extract.ts';
import type { Lines } from './lines.ts';
import { wordsOf } from './words.ts';

/** Score from which a passage is worth an offer. */
const offerThreshold = 0.2;
/** Score from which a passage is quoted as the answer. */
const quoteThreshold = 0.6;
/** An article is offered beside the best one if it has this share of its score. */
const nearlyEqual = 0.7;
const offersAtMost = 3;
const quotesAtMost = 2;
const maxExcerptChars = 300;
/** A question of one telling word is answered if it is this share of the message. */
const wholeShare = 0.6;
const mostWords = 100;
// “And for bicycles?” has words of one question, and asks another one.
const goesOn =
  /^(?:ok(?:ay)?,? )?(?:and|or|but|und|oder|aber|what about|how about|what if|was ist mit|wie ist es mit)\b/i;

/** A customer's question, and the passages found for it. */
export interface Asked {
  said: string;
  passages: readonly Passage[];
  /** Passages for the messages before; none for a first question. */
  before: readonly Passage[];
}

/**
 * Answers without a model: quotes the passages that fit their questions for sure, else offers the articles that may help. Null
 * where nothing is worth either.
 */
export function answerOffline(asked: Asked, { offer, person }: Pick<Lines, 'offer' | 'person'>): Outcome | null {
  const quoted = bestOfQuestions(asked.passages)
    .filter((passage) => fits(passage, asked))
    .slice(0, quotesAtMost);
  const [first] = quoted;
  if (!first) return offerOf(asked, { offer, person });
  // A single quotation needs no mark.
  if (quoted.length === 1) return settle({ text: extract(first, first.question), citations: [1] }, quoted);
  const texts = quoted.map((passage, index) => `${extract(passage, passage.question)} [${index + 1}]`);
  return settle({ text: texts.join('\n\n'), citations: [] }, quoted);
}

/** Offers the articles that may have the answer, with the way to a person; null when none may. */
function offerOf({ passages, before }: Asked, { offer, person }: Pick<Lines, 'offer' | 'person'>): Reply | null {
  const offered = offeredFrom(passages, before);
  if (offered.length === 0) return null;
  const urls = offered.flatMap(({ url }) => url ?? []);
  const list = offered.map((passage) => {
    const { url } = passage;
    return `${cleanTitle(passage, urls)}${url === null ? `: ${excerptOf(passage)}` : ` ${url}`}`;
  });
  return {
    text: [offer, ...list, '', person].join('\n'),
    sources: offered.map(({ id }) => id),
    isOffer: true,
    isFromTool: false,
  };
}

// “And for sale items?”: what was asked before may answer it as well.
function offeredFrom(passages: readonly Passage[], before: readonly Passage[]): Passage[] {
  const worth = (found: readonly Passage[], most: number) =>
    found.filter(({ score }) => score >= Math.max(offerThreshold, nearlyEqual * (found[0]?.score ?? 0))).slice(0, most);
  const former = worth(before, 1);
  const present = worth(passages, offersAtMost - former.length);
  return [...new Map([...present, ...former].map((passage) => [passage.id, passage])).values()];
}

// An article without an address cannot be opened.
function excerptOf(passage: Passage): string {
  const text = extract(passage, passage.question);
  // Cleaned last: a cut may make a link of what was none.
  return cleanText(text.length <= maxExcerptChars ? text : `${text.slice(0, maxExcerptChars).toWellFormed()} …`, []);
}

/** The best passage of each question, but for questions that are a part of one before. */
function bestOfQuestions(passages: readonly Passage[]): Passage[] {
  const best: Passage[] = [];
  for (const passage of passages) {
    const isAnswered = best.some(
      ({ question }) => question.includes(passage.question) || passage.question.includes(question),
    );
    if (!isAnswered) best.push(passage);
  }
  return best;
}

// A single word may stand in an article about anything: two are needed where the question has them, and one alone must be all that
// the customer says.
function fits({ answers, score, matches, question }: Passage, { said, before }: Asked): boolean {
  if (!answers || (before.length > 0 && goesOn.test(said))) return false;
  if (matches === null) return true;
  if (matches.words > 1) return score >= quoteThreshold;
  const isWhole = wordsOf(question, mostWords).length >= wholeShare * wordsOf(said, mostWords).length;
  return matches.of === 1 && matches.words === 1 && before.length === 0 && isWhole;
}
