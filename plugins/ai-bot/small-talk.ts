import { wordsOf } from './words.ts';

/** Messages that ask nothing: greetings, and thanks or goodbyes. */
export type SmallTalk = 'greeting' | 'thanks';

/** Words of a message that may be no more than small talk. */
const mostWords = 12;
const mostWordsOfWish = 8;

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

const greetings = setOf(`hi hello hey hiya heya howdy greetings yo morning afternoon evening
  hallo hallöchen huhu moin servus grüezi hej tag morgen abend grüß gruß
  bonjour bonsoir salut coucou hola buenos buenas ciao buongiorno buonasera salve
  hoi goedemorgen goedemiddag goedenavond goedendag dag`);
const thanks =
  setOf(`thanks thank thx ty cheers appreciated appreciate great perfect awesome cool lovely brilliant nice wonderful ok okay
  alright bye goodbye fine super excellent
  danke dankeschön dank passt prima toll perfekt klasse tschüss tschüß wiedersehen alles klar wunderbar spitze
  merci parfait génial revoir gracias perfecto vale adiós grazie perfetto arrivederci bedankt dankjewel dankuwel prima oké doei top`);
/** Words that stand beside these, and ask nothing by themselves. */
const fillers =
  setOf(`there all everyone everybody team guys sir madam dear and you i have a an the some question questions quick short so very
  much many lot lots for your help helping how are doing is it its it's that that's this was were day one just to my me please can could
  would us of everything again good nice got i'm im i'd glad with in advance have weekend evening night see later anyone somebody here
  need like ask something need support hope well answer reply fast that'll worked works helped problem no worries we all now a helps talking speaking chatting merry christmas happy easter birthday holidays new year same too
  robot bot chatbot real human machine computer
  zusammen liebe lieber liebes sehr geehrte geehrter damen herren vielen schönen schöne noch und ich habe hab hätte eine einen ein frage
  fragen kurze wie geht geht's gehts es spreche sprich mit einem einer echten menschen frohe fröhliche weihnachten ostern jahr neues gleichfalls ebenso ihnen dir euch für die ihre deine hilfe schnelle antwort das war hat mir geholfen guten gute gut da jemand
  ist sind sie du bist kann können mal bitte helfen brauche nochmal ja super auf nacht wochenende gott allerseits etwas wissen
  oder echter echt mensch roboter maschine
  beaucoup vous tout le la monde j'ai une un question comment ça va aide votre pour au
  muchas muy días tardes noches tengo una pregunta usted por su ayuda
  mille molto ho una domanda tutti per il suo aiuto
  goede goeden hartelijk u je wel ik heb een vraag voor uw hulp allemaal`);
const asksWhatItIs = setOf('robot bot chatbot machine computer roboter maschine');

const wish = /^(?:help|hilfe|ayuda|aide|aiuto|hulp|questions?|fragen?|pregunta|domanda|vraag|support)$/;
const howAreYou =
  /how are you|how is it going|wie geht|comment ça va|are you (?:a |an )?(?:real|human)|am i|spreche ich|christmas|weihnachten|easter|ostern|new year|neues jahr/;

const people =
  setOf(`person human agent someone operator representative mensch mitarbeiter mitarbeiterin menschen berater personne conseiller
  conseillère humain persona agente humano operatore umano medewerker mens`);
const refusals = setOf(
  `no nope not doesn't doesnt didn't didnt don't dont wrong nein nicht falsch ne nee non pas niet`,
);

const thanking = setOf('thanks thank thx cheers danke dankeschön merci gracias grazie bedankt');
const objections = setOf('but still however and aber doch trotzdem und mais et pero y ma e maar en');
/** Words of thanks that say something of their own, such as “Thanks, you saved my day”. */
const mostWordsOfThanks = 7;

/** The kind of small talk that a text is; null when it is about something. */
export function smallTalkOf(text: string): SmallTalk | null {
  const words = wordsOf(text, mostWords + 1);
  if (words.length > mostWords) return null;
  if (words.length === 0) return /\p{Extended_Pictographic}|[:;]-?[)D(P]/u.test(text) ? 'thanks' : null;
  if (isThanks(words, text)) return 'thanks';
  if (!words.every((word) => greetings.has(word) || thanks.has(word) || fillers.has(word))) return null;
  if (words.some((word) => thanks.has(word))) return 'thanks';
  const isGreeting = words.some((word) => greetings.has(word) || asksWhatItIs.has(word) || wish.test(word));
  return isGreeting || howAreYou.test(words.join(' ')) ? 'greeting' : null;
}

/** Whether a short text asks for a person. */
export function asksForPerson(text: string): boolean {
  const words = wordsOf(text, mostWordsOfWish + 1);
  const isAboutBot =
    words.some((word) => asksWhatItIs.has(word)) || /\b(?:are you|am i|bist du|sind sie|spreche ich)\b/i.test(text);
  return words.length <= mostWordsOfWish && !isAboutBot && words.some((word) => people.has(word));
}

/** Whether a short text says that an offer did not help. */
export function refuses(text: string): boolean {
  const words = wordsOf(text, mostWordsOfWish + 1);
  return words.length > 0 && words.length <= mostWordsOfWish && words.some((word) => refusals.has(word));
}

function isThanks(words: readonly string[], text: string): boolean {
  const [first = ''] = words;
  const isPlain = !/[?\d]/.test(text) && !words.some((word) => refusals.has(word) || objections.has(word));
  return thanking.has(first) && words.length <= mostWordsOfThanks && isPlain;
}
