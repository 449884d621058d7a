import type { Config } from '../config.ts';

/** A page to open after the start. */
export interface FrontDoor {
  /** Ten characters at most, for the column of the table. */
  label: string;
  url: string;
  /** A note beside the URL, in a few words. */
  hint?: string;
}

interface Place {
  config: Config;
  url: string;
  /** Signs the first administrator in, at the first start. */
  consoleLink: string | null;
  /** The identifier of an inbox to chat with; null without one. */
  chat: string | null;
}

const chatHint = 'a customer and a bot; once signed in, you see what happens';

/** The pages that a start shows, in the order in which a newcomer opens them; none where this process serves no requests. */
export function frontDoors({ config, url, consoleLink, chat }: Place): FrontDoor[] {
  if (config.role === 'engine') return [];
  return [
    ...(chat === null ? [] : [{ label: 'Chat page', url: `${url}/chat/${chat}`, hint: chatHint }]),
    consoleLink === null
      ? { label: 'Console', url: `${url}/console` }
      : { label: 'Console', url: consoleLink, hint: 'signs you in, once and within 30 minutes' },
    { label: 'API docs', url: `${url}/docs` },
    ...(config.demo
      ? [{ label: 'Receiver', url: `${url}/play`, hint: 'what the demo webhook sends; it can fail on demand' }]
      : []),
  ];
}
