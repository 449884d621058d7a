import { lines } from './lines.ts';
import { wordsOf } from './words.ts';

/** Words of what customers write that are looked at. */
const [mostWords, mostChars] = [200, 2_000];

// Words that tell languages apart; what several have counts for each of them a little.
const telling: Readonly<Record<string, string>> = {
  en: `hi hello hey yo good morning afternoon evening thanks thank you the is are do does did have has can could would i i'm my we our it this
    that what when where how which and or but with for of to not there yes no please from be was all so just nice good great day`,
  de: `hi hey hallo guten tag morgen abend danke dank vielen lieben moin servus der die das ein eine einen ist sind ich wir sie mein meine was wann wo wie welche und
    oder aber mit für von zu nicht es gibt kann könnte haben hat bitte ja auch noch auf bei habe mir mich`,
  fr: `bonjour bonsoir salut merci beaucoup le la les un une est sont je nous vous mon ma mes que quand où comment quel quelle et ou mais avec pour de
    des du ne pas il peut puis avoir avez oui est-ce qu'est-ce j'ai s'il`,
  nl: `hi hey hoi hallo goedemorgen goedemiddag goedenavond bedankt dank hartelijk dag de het een is zijn ik wij we mijn wat wanneer waar hoe welke en of maar met
    voor van te niet er kan kunnen hebben heeft ja ook nog op bij u jullie`,
  es: `hola buenos buenas días tardes gracias el la los las un una es son yo nosotros mi que qué cuándo dónde cómo cuál y o pero con para de
    del no hay puede puedo tener tiene sí por favor está no muchas`,
  it: `ciao buongiorno buonasera grazie il lo la gli le un una è sono io noi mio mia che quando dove come quale e o ma con per di del non c'è
    può posso avere ha sì anche prego vorrei no mille tutti`,
};

// Letters that are rare in the others.
const letters: readonly (readonly [RegExp, string])[] = [
  [/[äöüß]/iu, 'de'],
  [/[çœêèâ]/iu, 'fr'],
  [/[¿¡ñ]/iu, 'es'],
];

const languagesOf = new Map<string, string[]>();
for (const [language, words] of Object.entries(telling))
  for (const word of new Set(words.split(/\s+/))) languagesOf.set(word, [...(languagesOf.get(word) ?? []), language]);

/**
 * The language that customers write, as far as the bot has lines in it: that of most of their words; of several that of the first
 * article, then English. `articles`: the languages of the articles, those with most of them first.
 */
export function languageOf(texts: readonly string[], articles: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of texts.flatMap((text) => wordsOf(text, mostWords)).flatMap(partsOf)) {
    const known = languagesOf.get(word) ?? [];
    for (const language of known) counts.set(language, (counts.get(language) ?? 0) + 1 / known.length);
  }
  const all = texts.map((text) => text.slice(0, mostChars)).join(' ');
  for (const [letter, language] of letters) if (letter.test(all)) counts.set(language, (counts.get(language) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  const likely = Object.keys(lines).filter((language) => most > 0 && counts.get(language) === most);
  const written = articles.map((tag) => tag.toLowerCase().split('-')[0] ?? '').filter((language) => language in lines);
  if (likely.length === 0) return written[0] ?? 'en';
  return written.find((language) => likely.includes(language)) ?? likely[0] ?? 'en';
}

// “That’s” is “that” as well.
function partsOf(word: string): string[] {
  const [first = ''] = word.split("'");
  return first === word || languagesOf.has(word) ? [word] : [first];
}
