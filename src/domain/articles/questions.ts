import { comparable } from './languages.ts';
import { isQuestionWord, splitQuestion, wordsIn } from './question-words.ts';
import { linesOf } from './quoted-mail.ts';

/** Questions of one message that are searched for at most. */
const questionsAtMost = 6;
/** Words of a sentence from which its clauses are questions of their own as well. */
const longSentence = 12;
/** Characters at the end of a sentence in which its mark stands. */
const endChars = 20;
/** Words of a courtesy at most, and of a clause that may be a question at least. */
const [courteousWords, fewWords] = [12, 3];
/** Words of grammar, which full text search leaves out. */
const functionWords = new Set(
  `a an the my our your his her its their i we you he she it they me us him them this that these those there to of in on at by for
  from with into over under up and or but if as than not no be been was were had being because until while about between how what when
  where which who whom whose why do does did is are am may will shall should could would have has i'm
  der die das den dem des ein eine einen einem einer eines kein keine mein meine meinen unser unsere ihr ihre ihren sein seine
  ich du er sie es wir uns euch mir mich dir dich ihm ihn ihnen sich zu von mit nach bei aus auf für an am im in um und oder
  aber wenn als dass nicht bis über unter vor zum zur beim vom ins dieser diese dieses dann so auch`.split(/\s+/),
);

const wordsOfMail = new Set(
  `answer answers reply respond see read mail email message question questions below forward forwarded attached
  antwort antworten beantworten lesen siehe mail e-mail nachricht frage fragen unten angehängt`.split(/\s+/),
);

/** Questions of a message: those that it asks, and what it tells, which may be what somebody wants to know about. */
export interface Questions {
  asking: string[];
  telling: string[];
  /** Questions in the mail below it, if it asks nothing itself: “Can you answer this?”, “See below.” */
  quoted: string[];
}

/**
 * Returns what a message asks, each question by itself, at most six in all: headers, signatures and courtesies do not count, and
 * quoted mail only where the message asks nothing. A message that has nothing else is one question. Takes time linear in its length.
 */
export function questionsOf(message: string): Questions {
  const { own, earlier } = linesOf(message);
  const unique = clausesIn(own);
  const asking = unique.filter(asks).slice(0, questionsAtMost);
  const telling = unique.filter((clause) => !asks(clause)).slice(0, questionsAtMost - asking.length);
  const quoted = asking.some(isAboutMore) ? [] : clausesIn(earlier).filter(asks);
  const most = questionsAtMost - asking.length - telling.length;
  if (asking.length + telling.length + quoted.length === 0) return { asking: [message.trim()], telling, quoted };
  return { asking, telling, quoted: quoted.slice(0, most) };
}

// “Can you answer the mail below?” asks nothing but what the mail asks.
function isAboutMore(clause: string): boolean {
  const words = splitQuestion(comparable(clause)).map(({ bare }) => bare);
  return countTelling(words.filter((word) => !wordsOfMail.has(word)).join(' ')) > 0;
}

function clausesIn(lines: readonly string[]): string[] {
  const sentences = lines
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .flatMap(sentencesOf)
    .filter((sentence) => !isCourtesy(sentence));
  return [...new Set(sentences.flatMap((sentence, at) => clausesOf(sentence, sentences[at - 1])))];
}

const sentenceEnd = /(?<=[.!?…]["')\]]?)\s+|(?<=[。！？])/u;

const abbreviation = /(?:^|[\s.(])(?:\p{L}{1,2}|nos?|nr|str|bzw|ca|evtl|inkl|tel|mrs|approx|incl|e\.g|i\.e)\.$/iu;

/** Divides a line at its sentence ends; “z. B.”, “No. 5” and the like are none. */
function sentencesOf(line: string): string[] {
  const sentences: string[] = [];
  let pending = '';
  for (const part of line.split(sentenceEnd)) {
    const whole = `${pending} ${part}`.trim();
    pending = '';
    if (abbreviation.test(whole.slice(-endChars))) pending = whole;
    else if (whole !== '') sentences.push(whole);
  }
  return pending === '' ? sentences : [...sentences, pending];
}

const courtesy =
  /^(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|greetings|thanks?|thank you|many thanks|cheers|please help|(?:best|kind) regards|hallo|guten (?:morgen|tag|abend)|moin|servus|liebe[rs]?|sehr geehrte[rs]?|danke|vielen dank|besten dank|(?:viele|liebe|beste) grüße|ich hoffe|i hope)(?=$|[^\p{L}])/iu;

/** Whether a sentence greets, thanks or takes leave, and no more. */
function isCourtesy(sentence: string): boolean {
  return courtesy.test(sentence) && wordsIn(sentence) <= courteousWords && !asks(sentence);
}

const opener =
  "how|what|what’s|what's|when|where|which|who|whom|whose|why|can|could|do|does|did|is|are|am|may|might|will|would|shall|should|have|has|must|" +
  'wie|was|wann|wo|woher|wohin|welche[rsnm]?|wer|wem|wen|warum|wieso|weshalb|wozu|womit|wofür|kann|können|könnt|könnte|darf|dürfen|gibt|ist|sind|hat|haben|habt|muss|müssen|soll|sollte|wird|werden|bekomm\\w*|nehmt|nimmt|verkauft|bietet';
const opening = new RegExp(`^(?:and |but |so |or |und |aber |oder |also )?(?:${opener})(?=$|[^\\p{L}])`, 'iu');

/** Whether a sentence asks: by its mark, or by its first word. */
function asks(sentence: string): boolean {
  return /[?？]\W*$/u.test(sentence.slice(-endChars)) || opening.test(sentence);
}

// “hi we are four from utrecht can i bring my dog”, as many people write on a phone.
const insideOpener =
  /(?:,|;| [-–—])\s+|(?<!\b(?:how|what|when|where|which|was|wie|wo|wann))\s(?=(?:how|what|when|where|which|can (?:i|we|you)|could (?:i|we|you)|do (?:i|we|you)|does|is (?:it|there)|are there|may i|wie|was|wann|wo|welche[rsn]?|kann (?:ich|man)|können wir|darf (?:ich|man)|gibt es|ist es)\s)/iu;

/**
 * A sentence, and where it is long those of its clauses that may be a question of their own. “How long do I have?” goes with the
 * sentence before, which says of what.
 */
function clausesOf(sentence: string, before: string | undefined): string[] {
  const telling = countTelling(sentence);
  const whole = before !== undefined && asks(sentence) && telling <= 1 ? [`${before} ${sentence}`] : [];
  if (whole.length > 0 && telling === 0) return whole;
  if (wordsIn(sentence) < longSentence) return [...whole, sentence];
  const clauses = sentence.split(insideOpener).map((clause) => clause.trim());
  return [sentence, ...clauses.filter((clause) => clause !== sentence && asks(clause) && wordsIn(clause) >= fewWords)];
}

function countTelling(sentence: string): number {
  const isTelling = (word: string): boolean => word.length > 1 && !isQuestionWord(word) && !functionWords.has(word);
  return splitQuestion(comparable(sentence)).filter(({ bare }) => isTelling(bare)).length;
}
