import { setOf, wordsOf } from './words.ts';

/** Words of a message that may be no more than the wish for a person. */
const mostWords = 16;
const mostChars = 1_000;
/** Words of it that may name a person without saying what for. */
const mostWordsAlone = 8;
/** Words of it that may name one who may be a customer: “real person pls”. */
const mostWordsOfPerson = 4;

const people =
  setOf(`human humans agent operator representative rep advisor adviser mensch mitarbeiter mitarbeiterin menschen
  berater beraterin kundenberater ansprechpartner conseiller conseillère humain agente humano operatore umano medewerker
  mens`);
/** Words for those who write as well: “Can I bring a person?” */
const persons = setOf('person persona personne supervisor owner boss chef');
/** Words that may stand for a person, and for other things as well. */
const others =
  setOf(`someone somebody anyone anybody staff team colleague colleagues service support manager member employee assistant
  reception hotline jemand jemanden jemandem wer kollege kollegen kollegin team kundendienst kundenservice personal leute
  quelqu'un équipe alguien equipo qualcuno iemand`);
/** Words for getting in touch. */
const contact = setOf(`talk talking speak speaking chat connect contact reach transfer through call callback
  sprechen spreche reden rede telefonieren anrufen anruf zurückrufen rückruf verbinden verbinde weiterleiten kontaktieren
  parler appeler hablar llamar parlare chiamare spreken praten bellen`);
const mine = setOf(
  `i i'd i'll me we us please let can could ich mich mir wir uns bitte kann können könnte mal je me moi puedo quiero posso vorrei ik mij`,
);
// “12 euros per person” asks for nobody.
const priced = /\b(?:per|pro|each|every|extra|additional|für eine|for one) person\b/gi;
const machines = setOf('robot bot chatbot machine computer roboter maschine');
// “Give me a person”, “ich brauche eine echte Person”.
const direct =
  /\b(?:want|need|get|give|prefer|brauche|will|möchte|quiero|veux)(?: (?:me|us|to|a|an|the|your|real|actual|live|eine?n?|echten?|richtigen?|une?)){0,4} (?:person|persona|personne|supervisor|owner|boss|chef)\b/;
// “Please call me”, “kann mich jemand anrufen”.
const contactMe = /\b(?:call|ring|phone|contact|ruft?|rufen sie) (?:me|us|mich|uns)\b/;
const aboutBot = /\b(?:are you|am i|bist du|sind sie|spreche ich|is this|ist das)\b/i;

/**
 * Whether a short text asks for a person: `clear` if it names one, `likely` if it wants to get in touch with somebody, which may be
 * what an article tells about. Null if it does not, or asks what the bot is.
 */
export function personWishOf(text: string): 'clear' | 'likely' | null {
  const words = wordsOf(text.slice(0, mostChars).replace(priced, ''), mostWords + 1);
  if (words.length > mostWords || aboutBot.test(text)) return null;
  const has = (known: ReadonlySet<string>) => words.some((word) => known.has(word));
  const wants = has(contact) && has(mine);
  if (wants ? has(people) || has(persons) : namesOne(words, has)) return 'clear';
  const said = words.join(' ');
  if (direct.test(said)) return 'clear';
  return (wants && has(others)) || contactMe.test(said) ? 'likely' : null;
}

/** Whether a few words name a person, and no machine: “real person pls”. */
function namesOne(words: readonly string[], has: (known: ReadonlySet<string>) => boolean): boolean {
  if (has(machines)) return false;
  return (words.length <= mostWordsAlone && has(people)) || (words.length <= mostWordsOfPerson && has(persons));
}
