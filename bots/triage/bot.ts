import { defineBot, type Priority } from 'switchboard/bot';

interface Rule {
  words: string[];
  label?: string;
  priority?: Priority;
  team?: string;
}

const priorities: readonly Priority[] = ['urgent', 'high', 'medium', 'low'];
// Spaces and punctuation.
const betweenWords = /[\s!-/:-@[-`{-\u00bf\u2000-\u206f\u3000-\u303f\uff00-\uff0f]+/;

export default defineBot<{ rules: Rule[] }>({
  on: {
    message_created(ctx) {
      const text = wordsOf(ctx.message.content);
      const rules = ctx.config.rules.filter(({ words }) => words.some((word) => text.includes(wordsOf(word))));
      const labels = [...new Set(rules.flatMap(({ label }) => (label === undefined ? [] : [label.toLowerCase()])))];
      const team = rules.find((rule) => rule.team !== undefined)?.team;
      const priority = priorities.find((level) => rules.some((rule) => rule.priority === level));
      if (labels.length > 0) ctx.label.add(...labels);
      ctx.handoff({
        reason:
          rules.length === 0 ? 'No rule for this message' : `Sorted by its words: ${labels.join(', ') || 'no label'}`,
        ...(team === undefined ? {} : { team }),
        ...(priority === undefined ? {} : { priority }),
      });
    },
  },
});

/** Looked at of a text: one character may become eighteen, and a bot that takes too long is stopped. */
const maxChars = 10_000;

/** The words of a text, separated and surrounded by spaces, so that " demo " does not match "democracy". */
function wordsOf(text: string): string {
  const words = text.slice(0, maxChars).normalize('NFKC').toLowerCase().split(betweenWords).filter(Boolean);
  return ` ${words.join(' ')} `;
}
