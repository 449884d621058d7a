/** The texts that the bot says by itself, in one language. */
export interface Lines {
  greeting: string;
  thanks: string;
  /** Follows a message that says nothing, such as “lol”. */
  reaction: string;
  handoff: string;
  outage: string;
  /** Before the titles that an offer lists. */
  offer: string;
  /** Behind them: the way to a person. `personWishOf` knows its word. */
  person: string;
}

/** The default texts by language; English is what everybody else gets. */
export const lines: Readonly<Record<string, Lines>> & { readonly en: Lines } = {
  en: {
    greeting: 'Hello! How can I help you?',
    thanks: 'You are welcome! Is there anything else I can help you with?',
    reaction: 'Just write if there is anything else I can help you with.',
    handoff: 'I am passing you on to a colleague, who will answer you here.',
    outage: 'I cannot answer at the moment. I am passing you on to a colleague, who will answer you here.',
    offer: 'This may help:',
    person: 'If it does not, write “person”, and a colleague will answer you here.',
  },
  de: {
    greeting: 'Guten Tag! Wie kann ich helfen?',
    thanks: 'Gern geschehen! Kann ich sonst noch etwas für Sie tun?',
    reaction: 'Schreiben Sie einfach, wenn ich sonst noch etwas für Sie tun kann.',
    handoff: 'Ich gebe Sie an eine Kollegin oder einen Kollegen weiter. Die Antwort kommt hier.',
    outage:
      'Ich kann gerade nicht antworten und gebe Sie an eine Kollegin oder einen Kollegen weiter. Die Antwort kommt hier.',
    offer: 'Das könnte helfen:',
    person: 'Wenn nicht, schreiben Sie „Mensch“: Dann antwortet Ihnen hier eine Kollegin oder ein Kollege.',
  },
  fr: {
    greeting: 'Bonjour ! Comment puis-je vous aider ?',
    thanks: 'Avec plaisir ! Puis-je encore vous aider ?',
    reaction: 'Écrivez-moi si je peux encore vous aider.',
    handoff: 'Je transmets votre message à un collègue, qui vous répondra ici.',
    outage: 'Je ne peux pas répondre pour le moment. Je transmets votre message à un collègue, qui vous répondra ici.',
    offer: 'Ceci peut vous aider :',
    person: 'Sinon, écrivez « conseiller », et un collègue vous répondra ici.',
  },
  nl: {
    greeting: 'Hallo! Waarmee kan ik u helpen?',
    thanks: 'Graag gedaan! Kan ik u nog ergens mee helpen?',
    reaction: 'Schrijf gerust als ik u nog ergens mee kan helpen.',
    handoff: 'Ik geef uw vraag door aan een collega, die u hier antwoordt.',
    outage: 'Ik kan op dit moment niet antwoorden. Ik geef uw vraag door aan een collega, die u hier antwoordt.',
    offer: 'Dit helpt misschien:',
    person: 'Zo niet, schrijf dan “medewerker”, en een collega antwoordt u hier.',
  },
  es: {
    greeting: '¡Hola! ¿En qué puedo ayudarle?',
    thanks: '¡De nada! ¿Puedo ayudarle en algo más?',
    reaction: 'Escríbame si puedo ayudarle en algo más.',
    handoff: 'Paso su mensaje a un compañero, que le responderá aquí.',
    outage: 'No puedo responder en este momento. Paso su mensaje a un compañero, que le responderá aquí.',
    offer: 'Esto puede ayudarle:',
    person: 'Si no, escriba «persona», y un compañero le responderá aquí.',
  },
  it: {
    greeting: 'Buongiorno! Come posso aiutarla?',
    thanks: 'Prego! Posso aiutarla in altro?',
    reaction: 'Mi scriva pure se posso aiutarla in altro.',
    handoff: 'Passo il suo messaggio a un collega, che le risponderà qui.',
    outage: 'Al momento non posso rispondere. Passo il suo messaggio a un collega, che le risponderà qui.',
    offer: 'Questo può aiutarla:',
    person: 'Altrimenti scriva «persona», e un collega le risponderà qui.',
  },
};
