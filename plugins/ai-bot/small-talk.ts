import { setOf, wordsOf } from './words.ts';

/** Messages that ask nothing: greetings, thanks or goodbyes, and reactions such as “lol” or “no, that is all”. */
export type SmallTalk = 'greeting' | 'thanks' | 'reaction';

/** Words of a message that may be no more than small talk. */
const mostWords = 12;
/** Words of thanks that say something of their own, such as “Thanks, you saved my day”. */
const mostWordsOfThanks = 7;

const greetings = setOf(`hi hello hey hiya heya howdy greetings yo morning afternoon evening day sup
  hallo hallöchen huhu moin servus grüezi hej tag morgen abend grüß gruß tach
  bonjour bonsoir salut coucou hola buenos buenas ciao buongiorno buonasera salve
  hoi goedemorgen goedemiddag goedenavond goedendag dag`);
const thanks =
  setOf(`thanks thank thx tnx ty cheers ta appreciated appreciate great perfect awesome cool lovely brilliant nice wonderful ok okay k
  alright bye goodbye fine super excellent fantastic amazing sweet noted understood cu cya
  danke dankeschön dank passt prima toll perfekt klasse tschüss tschüß tschau wiedersehen klar wunderbar spitze verstanden
  merci parfait génial revoir gracias perfecto vale adiós grazie perfetto arrivederci bedankt dankjewel dankuwel prima oké doei top`);
const thanking = setOf('thanks thank thx tnx ty cheers danke dankeschön merci gracias grazie bedankt');
const reactions =
  setOf(`lol haha hahaha hehe rofl wow oh ah aha hm hmm oops ups sorry apologies entschuldigung pardon yes yep yeah yup sure
  please exactly right correct ja jo jep jap genau stimmt bitte naja oui si sí jawel`);
/** Noes that end a conversation only beside a word of its end: “no” alone may be about the answer. */
const noes = setOf('no nope nah nein ne nee nö non');
const ends = setOf('all everything alles nothing nichts else');
// Wishes for a time: “have a nice weekend”, “schönen Feierabend”. “Good evening” greets, “have a good evening” does not.
const wishing = setOf('have enjoy noch wünsche');
const kind = setOf('nice great lovely happy merry wonderful schön toll froh fröhlich bonne fijn prettig');
const good = setOf('good gut buona buon goed');
const times = setOf(`day evening night weekend week time holiday holidays christmas easter birthday year
  tag abend feierabend nacht wochenende woche urlaub ferien zeit weihnacht weihnachten ostern jahr geburtstag
  journée soirée week-end giornata serata avond nacht`);
const fillers =
  setOf(`there all everyone everybody team guys folks mate man buddy sir madam dear and you i have a an the some question questions quick short so
  very much many lot lots for your help helping how who am are do does doing is it its that this these was were be been day one just to my me can could
  would us we of everything again good got glad with in on at from advance evening night see later soon then too tomorrow anyone anybody
  somebody someone here need like ask something need support hope well answer reply fast worked works helped problem no worries now
  helps talking speaking chatting saved new same both any more i'd robot bot chatbot ai real human person machine computer
  zusammen ganz alles miteinander lieb leute sehr geehrt damen herren viel schön noch und ich habe hab hätte ein eine frage fragen kurz wie wem geht
  gehts es spreche sprich mit einem echt frohe gleichfalls ebenso ihnen dir euch für die der das dem den ihre deine
  hilfe schnell antwort war hat mir geholfen gut da hier jemand wer ist sind sie du ihr bist kann können mal helfen brauche nochmal super auf
  bis dann bald später gott allerseits etwas wissen oder mensch roboter maschine
  beaucoup vous tout le la monde j'ai une un comment ça va aide votre pour au
  muchas muy días tardes noches tengo una pregunta usted por su ayuda
  mille molto ho una domanda tutti per il suo aiuto
  goed hartelijk u je wel ik heb een vraag voor uw hulp allemaal`);
/** Words that ask for a fact, unless it is about the bot: “and when?” goes on with what was asked before. */
const interrogatives = setOf('how who what when where which why wie wer wem wann wo welch warum wieso');
const machines = setOf('robot bot chatbot ai machine computer roboter maschine');
const somebody = setOf('anyone anybody somebody someone jemand wer');
const present = setOf('there here da hier');
const wish = setOf('help hilfe ayuda aide aiuto hulp question questions frage fragen pregunta domanda vraag support');

const aboutBot =
  /how (?:are|is|was) (?:you|it going|your)|how do you do|wie geht|comment ça va|(?:who|what|how) (?:are you|am i)|are you (?:a |an )?(?:real|human|person)|am i|(?:what|how) can you|was kannst du|(?:wer|was) (?:bist|sind|ist da\b)|wem (?:spreche|schreibe)|spreche ich/;
// “Was” is a verb in English, unless it comes first.
const germanWhat = /^(?:(?:ok|okay|ja|und|aber) )?was /;
const refusals = setOf(
  `no nope not doesn't doesnt didn't didnt don't dont wrong nein nicht falsch ne nee non pas niet`,
);
const objections = setOf('but still however and aber doch trotzdem und mais et pero y ma e maar en');
const mostWordsOfNo = 8;

/**
 * The kind of small talk that a text is; null when it is about something. Small talk is short, has no words but its own and those
 * that say nothing by themselves.
 */
export function smallTalkOf(text: string): SmallTalk | null {
  const words = wordsOf(text, mostWords + 1);
  if (words.length > mostWords) return null;
  if (words.length === 0) return /\p{Extended_Pictographic}|[:;]-?[)D(P]/u.test(text) ? 'thanks' : null;
  if (isThanks(words, text)) return 'thanks';
  return words.every((word) => smallWords.some((known) => isIn(known, word))) ? kindOf(words) : null;
}

/** The kind of a message that has no words but those of small talk. */
function kindOf(words: readonly string[]): SmallTalk | null {
  const has: Has = (known) => words.some((word) => isIn(known, word));
  const isToBot = aboutBot.test(words.join(' ')) || has(machines) || isCall(has);
  if (!isToBot && asks(words, has)) return null;
  if (has(thanks) || isFarewell(words, has)) return 'thanks';
  if (isToBot || has(greetings) || has(wish)) return 'greeting';
  return isReaction(has) ? 'reaction' : null;
}

function asks(words: readonly string[], has: Has): boolean {
  return has(interrogatives) || germanWhat.test(words.join(' '));
}

function isReaction(has: Has): boolean {
  return has(reactions) || (has(noes) && has(ends));
}

/** Whether the message has a word of these. */
type Has = (known: ReadonlySet<string>) => boolean;

const smallWords = [greetings, thanks, reactions, noes, ends, wishing, kind, good, times, fillers, interrogatives];

/** Whether a short text says that an offer did not help. */
export function refuses(text: string): boolean {
  const words = wordsOf(text, mostWordsOfNo + 1);
  return words.length > 0 && words.length <= mostWordsOfNo && words.some((word) => refusals.has(word));
}

function isThanks(words: readonly string[], text: string): boolean {
  const [first = ''] = words;
  const isPlain = !/[?\d]/.test(text) && !words.some((word) => refusals.has(word) || objections.has(word));
  return thanking.has(first) && words.length <= mostWordsOfThanks && isPlain;
}

// “Have a nice evening”, and “see you”, “bis bald”.
function isFarewell(words: readonly string[], has: Has): boolean {
  const isWish = has(times) && (has(wishing) || has(kind) || has(good));
  return (isWish && !greetsByTime(has)) || (words.length <= 4 && /^(?:see|bis)$/.test(words[0] ?? ''));
}

function greetsByTime(has: Has): boolean {
  return has(good) && has(greetings) && !has(wishing);
}

// “Anyone there?”
function isCall(has: Has): boolean {
  return has(somebody) && has(present);
}

/** Whether a set has a word, or what is left of it without an ending: “you’re”, “lieben”, “schönes”. */
function isIn(known: ReadonlySet<string>, word: string): boolean {
  if (known.has(word) || known.has(word.replace(/'\p{L}{1,2}$/u, ''))) return true;
  // “Tage” are no greeting.
  return known !== greetings && known.has(word.replace(/(?<=\p{L}{3})e[nrsm]?$/u, ''));
}
