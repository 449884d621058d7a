import { expect } from 'chai';
import { languageOf } from '../../plugins/ai-bot/language.ts';
import { lines } from '../../plugins/ai-bot/lines.ts';
import { asksForPerson, refuses, smallTalkOf } from '../../plugins/ai-bot/small-talk.ts';

describe('the AI bot knows small talk', () => {
  for (const [text, kind] of [
    ['Hi', 'greeting'],
    ['Good morning! I have a question.', 'greeting'],
    ['hello there', 'greeting'],
    ['Hi, how are you?', 'greeting'],
    ['how are you', 'greeting'],
    ['Are you a robot?', 'greeting'],
    ['I need help', 'greeting'],
    ['Guten Tag, ich hätte eine Frage', 'greeting'],
    ['Bonjour', 'greeting'],
    ['Thanks a lot!', 'thanks'],
    ['ok great', 'thanks'],
    ['Vielen Dank für Ihre schnelle Hilfe!', 'thanks'],
    ['Thanks, you saved my day!', 'thanks'],
    ['Danke, das Rad läuft wieder', 'thanks'],
    ['Thanks, but the parcel still is not here', null],
    ['Danke, und die Garantie läuft wie lange', null],
    ['👍', 'thanks'],
    [':-)', 'thanks'],
    ['Hi, when are you open?', null],
    ['Thanks, and what does delivery cost?', null],
    ['Even for sale items?', null],
    ['1', null],
    ['?', null],
    ['Hallo, wo ist meine Bestellung?', null],
  ] as const) {
    it(`${JSON.stringify(text)}: ${kind}`, () => expect(smallTalkOf(text)).to.equal(kind));
  }

  for (const [text, isWish] of [
    ['person', true],
    ['Can I talk to a human please?', true],
    ['Mensch', true],
    ['Ich möchte einen Mitarbeiter sprechen', true],
    ['Are you a person?', false],
    ['How much is it per person and night in the high season?', false],
    ['When are you open?', false],
  ] as const) {
    it(`${JSON.stringify(text)} ${isWish ? 'asks' : 'does not ask'} for a person`, () =>
      expect(asksForPerson(text)).to.equal(isWish));
  }

  it('knows the word that each of its offers names', () => {
    for (const [language, { person }] of Object.entries(lines)) {
      const word = /[“„«]\s?(\p{L}+)\s?[”“»]/u.exec(person)?.[1] ?? '';
      expect(asksForPerson(word), `${language}: ${word}`).to.equal(true);
    }
  });

  it('knows a no', () => {
    for (const text of ['no', 'No, that does not help', 'nein danke', 'Das hilft nicht'])
      expect(refuses(text)).to.equal(true);
    for (const text of ['yes', 'When are you open?', '']) expect(refuses(text)).to.equal(false);
  });

  for (const [texts, articles, language] of [
    [['Hi'], ['de'], 'de'],
    [['Hi'], ['pt', 'fr'], 'en'],
    [['Hallo'], ['en'], 'de'],
    [['Hallo'], ['nl'], 'nl'],
    [['Hallo', 'Waar is mijn bestelling?'], ['de'], 'nl'],
    [['Où est ma commande ?'], ['en'], 'fr'],
    [['¿Dónde está mi pedido?'], ['en'], 'es'],
    [['Vorrei sapere quando arriva il mio ordine'], ['en'], 'it'],
    [['Zażółć'], ['de-AT'], 'de'],
    [['Zażółć'], [], 'en'],
    [['When can I return the jacket that I bought?'], ['de'], 'en'],
  ] as const) {
    it(`takes ${JSON.stringify(texts)} beside articles in ${articles.join()} for ${language}`, () =>
      expect(languageOf(texts, articles)).to.equal(language));
  }
});
