import { expect } from 'chai';
import { languageOf } from '../../plugins/ai-bot/language.ts';
import { lines } from '../../plugins/ai-bot/lines.ts';
import { personWishOf } from '../../plugins/ai-bot/person-wish.ts';
import { refuses, smallTalkOf } from '../../plugins/ai-bot/small-talk.ts';

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
    ["You're amazing", 'thanks'],
    ['See you tomorrow', 'thanks'],
    ['Schönen Urlaub noch', 'thanks'],
    ['have a good evening', 'thanks'],
    ['good evening', 'greeting'],
    ['Schönen guten Abend', 'greeting'],
    ['ganz lieben Dank', 'thanks'],
    ['Who are you?', 'greeting'],
    ['What can you do?', 'greeting'],
    ['Is anybody here?', 'greeting'],
    ['Ist da jemand?', 'greeting'],
    ['hahaha', 'reaction'],
    ['oh sorry', 'reaction'],
    ['Nein, das ist alles', 'reaction'],
    ['no', null],
    ['No good', null],
    ['Ok, and when?', null],
    ['ok was ist das', null],
    ['How much is it?', null],
    ['Tage', null],
    ['human please', 'reaction'],
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

  for (const [text, wish] of [
    ['person', 'clear'],
    ['Can I talk to a human please?', 'clear'],
    ['I would much rather talk to a human being than to this silly computer', 'clear'],
    ['Mensch', 'clear'],
    ['Ich möchte einen Mitarbeiter sprechen', 'clear'],
    ['Give me a real person', 'clear'],
    ['Can I bring a person for free?', null],
    ['I want a ticket for another person', null],
    ['Can I speak with someone from the team?', 'likely'],
    ['Kann ich mit jemandem telefonieren?', 'likely'],
    ['Ring me back, please: phone me', 'likely'],
    ['Are you a person?', null],
    ['Am I speaking to a person or a robot?', null],
    ['How much is it per person and night in the high season?', null],
    ['Can I call you about the price per person?', null],
    ['Does the service include breakfast?', null],
    ['When are you open?', null],
  ] as const) {
    it(`${JSON.stringify(text)}: a wish for a person is ${wish}`, () => expect(personWishOf(text)).to.equal(wish));
  }

  it('knows the word that each of its offers names', () => {
    for (const [language, { person }] of Object.entries(lines)) {
      const word = /[“„«]\s?(\p{L}+)\s?[”“»]/u.exec(person)?.[1] ?? '';
      expect(personWishOf(word), `${language}: ${word}`).to.equal('clear');
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
    [["That's all"], ['es', 'en'], 'en'],
    [['no'], ['en'], 'en'],
    [['Vielen Dank euch'], ['de'], 'de'],
    [['Zażółć'], ['de-AT'], 'de'],
    [['Zażółć'], [], 'en'],
    [['When can I return the jacket that I bought?'], ['de'], 'en'],
  ] as const) {
    it(`takes ${JSON.stringify(texts)} beside articles in ${articles.join()} for ${language}`, () =>
      expect(languageOf(texts, articles)).to.equal(language));
  }
});
