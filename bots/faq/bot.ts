import { defineBot } from 'switchboard/bot';

interface Question {
  keywords: string[];
  answer: string;
}

interface Settings {
  questions: Question[];
  human_words: string[];
  handoff_message: string;
  unknown_message: string;
}

// Spaces and punctuation. Listing the separators keeps letters of all scripts, and is faster in a new isolate than
// \p{L}.
const betweenWords = /[\s!-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u303f\uff00-\uff0f]+/;

/** Looked at of a text: one character may become eighteen, and a bot that takes too long is stopped. */
const maxChars = 10_000;

/** The words of a text, separated and surrounded by spaces, so that " open " does not match "opened". */
function wordsOf(text: string): string {
  const words = text.slice(0, maxChars).normalize('NFKC').toLowerCase().split(betweenWords).filter(Boolean);
  return ` ${words.join(' ')} `;
}

function countMatches(words: string, keywords: readonly string[]): number {
  return keywords.map(wordsOf).filter((keyword) => keyword.trim() !== '' && words.includes(keyword)).length;
}

function findQuestion(words: string, questions: readonly Question[]): Question | undefined {
  const ranked = questions.map((question) => ({ question, matches: countMatches(words, question.keywords) }));
  const best = Math.max(0, ...ranked.map(({ matches }) => matches));
  return best === 0 ? undefined : ranked.find(({ matches }) => matches === best)?.question;
}

export default defineBot<Settings>({
  on: {
    message_created(ctx) {
      const { questions, human_words, handoff_message, unknown_message } = ctx.config;
      const words = wordsOf(ctx.message.content);
      if (countMatches(words, human_words) > 0) {
        ctx.handoff({ reason: 'The customer asked for a person', message: handoff_message });
        return;
      }
      const question = findQuestion(words, questions);
      if (!question) {
        ctx.handoff({ reason: 'No answer is known', message: unknown_message });
        return;
      }
      ctx.reply(question.answer);
      ctx.label.add('faq');
    },
  },
});
