import { expect } from 'chai';
import { questionsOf } from '../../../src/domain/articles/questions.ts';

describe('the questions of a message', () => {
  for (const [message, asking, telling, quoted = []] of [
    ['Within how many days may I return goods?', ['Within how many days may I return goods?'], []],
    ['opening hours', [], ['opening hours']],
    [
      'Hello, we are a family of four and will visit you next weekend. Can we bring our dog? Thank you in advance, Marieke',
      ['Can we bring our dog?'],
      ['Hello, we are a family of four and will visit you next weekend.'],
    ],
    [
      'I want to return a jacket. How long do I have?',
      ['I want to return a jacket. How long do I have?'],
      ['I want to return a jacket.'],
    ],
    ['I want to pay. Can you help me?', ['I want to pay. Can you help me?'], ['I want to pay.']],
    [
      'hi we are a family of four from utrecht can i bring my dog and what does it cost',
      ['can i bring my dog and', 'what does it cost'],
      ['hi we are a family of four from utrecht can i bring my dog and what does it cost'],
    ],
    [
      'Guten Tag,\n\nkann ich das Rad z. B. auch am Bahnhof zurückgeben?\n\nMit freundlichen Grüßen\nJana Müller\nTel. 0123 456',
      ['kann ich das Rad z. B. auch am Bahnhof zurückgeben?'],
      [],
    ],
    [
      'Where is order 17?\n\nOn Mon, 3 Nov 2025 at 10:00, Shop <a@b.example> wrote:\n> Do you want a jacket?',
      ['Where is order 17?'],
      [],
    ],
    ['Where is order 17?\n\nAm 3. November schrieb der Shop:\nMöchten Sie eine Jacke?', ['Where is order 17?'], []],
    [
      '---------- Forwarded message ----------\nFrom: Kim\nSent: Monday\nSubject: Fwd: Re: Opening hours\n\nAre you open on Sunday?\n-- \nKim\nACME',
      ['Are you open on Sunday?'],
      ['Opening hours'],
    ],
    [
      'See below.\n\n-----Original Message-----\nFrom: Kim\nSent: Monday\nSubject: A jacket\n\nMay I return a jacket?\nKim',
      [],
      ['See below.'],
      ['May I return a jacket?'],
    ],
    [
      'Could you answer this?\n\nOn Mon, 3 Nov 2025 at 10:00, Kim Doe\n<kim@b.example> wrote:\n> I have a jacket. May I return it?',
      ['Could you answer this?'],
      [],
      ['I have a jacket. May I return it?', 'May I return it?'],
    ],
    [
      'FW: your mail\n\n________\nFrom: Kim\nSent: Monday\nSubject: FW: A jacket\n\nMay I return a jacket?',
      [],
      ['your mail'],
      ['May I return a jacket?'],
    ],
    [
      'WG: Anfrage\n\nVon: Kim\nGesendet: Montag\nBetreff: Jacke\n\nIch will meine Jacke umtauschen.',
      [],
      ['Anfrage', 'Jacke', 'Ich will meine Jacke umtauschen.'],
    ],
    [
      'Where is my jacket?\n\nVon: Laden\nGesendet: Montag\nBetreff: Jacke\n\nMöchten Sie eine Hose?',
      ['Where is my jacket?'],
      [],
    ],
    ['Where is my jacket?\n\n-- \nKim\nDo you need to print this?', ['Where is my jacket?'], []],
    [
      'Where is my jacket?\n\nBest,\nKim\n\nSent from my phone\n\nThis mail is confidential.\nSend it to nobody.',
      ['Where is my jacket?'],
      [],
    ],
    ['Wo ist sie?\n\nGesendet von meinem Telefon\n\n| Ihre Jacke ist da.', ['Wo ist sie?'], []],
    ['> Are you open?', ['Are you open?'], []],
    ['Hi!', ['Hi!'], []],
    ['', [''], []],
  ] as const) {
    it(`of ${JSON.stringify(message).slice(0, 70)}`, () => {
      expect(questionsOf(message)).to.deep.equal({ asking, telling, quoted });
    });
  }

  it('are at most six', () => {
    const { asking, telling } = questionsOf(
      'Where is it? It is lost. '.repeat(50) + 'When? Who? Which door? What colour is the door?',
    );
    expect(asking.length + telling.length).to.be.at.most(6);
  });
});
