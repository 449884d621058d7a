import { escapeHtml } from '../../lib/text/escape-html.ts';
import type { Sql } from '../../postgres/sql.ts';
import { comparable, configurationOf } from './languages.ts';
import { plainText } from './plain-text.ts';

interface Shown {
  language: string;
  text: string;
  /** The tsquery of what was asked, in this language. */
  asked: string;
}

/** Characters of a highlight at most, without its tags. */
const shownChars = 300;
/** Words of a highlight at most. */
const wordsAtMost = 50;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Matches of a query in a text. */
export interface Highlight {
  /** The stretch with the most matching words: escaped as HTML, these words in `<mark>`. */
  html: string;
  /** The matching words of the whole text, in its spelling. */
  words: string[];
}

/** Returns the matches of each text with what was asked. */
export async function highlight(sql: Sql, shown: readonly Shown[]): Promise<Highlight[]> {
  const texts = shown.map(({ text, ...rest }) => ({ ...rest, segments: segmentsOf(plainText(text)) }));
  const matched = texts.map(({ language, asked, segments }, index) => ({
    index,
    configuration: configurationOf(language),
    query: asked,
    words: [...new Set(segments.filter(({ isWord }) => isWord).map(({ text }) => comparable(text)))],
  }));
  const rows = await sql<{ index: number; word: string }>(statement, [JSON.stringify(matched)]);
  const found = Map.groupBy(rows, ({ index }) => index);
  return texts.map(({ segments }, index) => {
    const words = new Set(found.get(index)?.map(({ word }) => word));
    const marked = segments.map((segment) => ({
      ...segment,
      marked: segment.isWord && words.has(comparable(segment.text)),
    }));
    const standing = new Set(marked.filter((segment) => segment.marked).map(({ text }) => text));
    return { html: mark(marked), words: [...standing].slice(0, wordsAtMost) };
  });
}

interface Segment {
  text: string;
  isWord: boolean;
}

function segmentsOf(text: string): Segment[] {
  return Array.from(segmenter.segment(text), ({ segment, isWordLike }) => ({
    text: segment,
    isWord: isWordLike === true,
  }));
}

function mark(segments: readonly (Segment & { marked: boolean })[]): string {
  const { from, to } = bestStretch(segments);
  const inside = segments
    .slice(from, to)
    .map(({ text, marked }) => (marked ? `<mark>${escapeHtml(text)}</mark>` : escapeHtml(text)))
    .join('')
    .replace(/\s+/g, ' ')
    .trim();
  return `${from > 0 ? '… ' : ''}${inside}${to < segments.length ? ' …' : ''}`;
}

/** Returns the stretch of shownChars with the most marked segments, by a moving window; the first of several. */
function bestStretch(segments: readonly (Segment & { marked: boolean })[]): { from: number; to: number } {
  const best = { from: 0, to: 0, marks: -1 };
  let [from, chars, marks] = [0, 0, 0];
  segments.forEach(({ text, marked }, index) => {
    chars += text.length;
    marks += Number(marked);
    for (let first = segments[from]; first && chars > shownChars && from < index; first = segments[from]) {
      chars -= first.text.length;
      marks -= Number(first.marked);
      from += 1;
    }
    const isLonger = marks === best.marks && from === best.from;
    if (marks > best.marks || isLonger) Object.assign(best, { from, to: index + 1, marks });
  });
  return best;
}

const statement = `
  SELECT a.index, w.word
  FROM jsonb_to_recordset($1::jsonb) AS a (index integer, configuration regconfig, query tsquery, words text[])
  CROSS JOIN LATERAL (SELECT word FROM unnest(a.words) AS word WHERE to_tsvector(a.configuration, word) @@ a.query) w`;
