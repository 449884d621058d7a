/** Words that questions of any kind have, beside those that full text search leaves out by itself. */
const words: Readonly<Record<string, string>> = {
  en: `able actually already also always another any anybody anyone anything anyway anywhere apparently around ask asking away
    back bit can cannot come could dear does doesn doing done else ever every everything exactly explain find fine follow get
    gets getting give gives go goes going gone good got guys happen happens have having hello help helpful here hey hi hope
    i'd i'll i'm i've instead isn it's just keep keeps kind know let like likes little long look looking lot make makes making many
    may maybe mean might much must need needed needs never new nothing now obviously often okay one only perhaps please
    possible possibly probably put question questions quick quickly quite rather really right said say says see seem seems
    show some somebody somehow someone something sometimes soon sorry still stuff such suddenly supposed sure take takes
    talk tell thank thanks that's there thing things think though time times told totally tried try trying understand
    unfortunately use used using usually via want wanted wants way ways well went what's whenever whether without
    wonder wondering won work working works would wrong yes yet`,
  de: `aber allerdings also andere anderen anders bekomme bekommen besten bin bitte brauche brauchen braucht danke dank daran
    darf darüber davon dazu denn derzeit doch dort dürfen eben eigentlich einfach einmal eventuell frage fragen funktioniert
    funktionieren gar geben geht gehen genau gern gerne gibt gleich glaube gut guten hallo halt hätte helfen hilfe hier hoffe
    immer irgendwie irgendwo ja jetzt kann kannst klappt könnte könnten könnt können konnte kriege lang lange leider lassen lässt liebe
    machen mache macht mal man mehr meine möchte möchten mögen möglich möglichkeit muss müssen muß nämlich neu nein nichts
    nie noch nun nur nutzen oder okay plötzlich problem schon sehr sollte sollten sollen soll sonst tag team tun tut überhaupt
    usw verstehe versuche versucht vielleicht vielen wann war warum was weiß weiter welche welcher welches wenn werden weshalb
    wie wieder wieso will wirklich wissen wo wollen wollte wozu würde würden zeigen ziemlich zurzeit`,
};

const byLanguage = new Map(
  Object.entries(words).map(([language, text]) => [language, new Set(text.split(/\s+/))] as const),
);

/** A word of a question as it was written, and without the punctuation around it. */
export interface QuestionWord {
  written: string;
  bare: string;
}

// Greedy from the first letter or digit: a search for the punctuation at the end would begin anew at each of its characters.
const bareWord = /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/su;

/** Splits a question into its words. Takes time linear in its length. */
export function splitQuestion(question: string): QuestionWord[] {
  return question.split(/\s+/).map((written) => ({ written, bare: bareWord.exec(written)?.[0] ?? '' }));
}

/** Whether questions of any kind have this word, in whatever language; in lower case. */
export function isQuestionWord(word: string): boolean {
  return [...byLanguage.values()].some((known) => known.has(word));
}

/** The question without such words of the language; the whole question if it consists of nothing else. */
export function withoutQuestionWords(question: readonly QuestionWord[], language: string): string {
  const known = byLanguage.get(language.toLowerCase().split('-')[0] ?? '');
  const rest = question.filter(({ bare }) => !known?.has(bare));
  const kept = rest.some(({ bare }) => bare !== '') ? rest : question;
  return kept.map(({ written }) => written).join(' ');
}

/** How many words a text has; of very long ones a hundred. */
export function wordsIn(text: string): number {
  return text.split(/\s+/, 100).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
