import { openDoors } from '../runs/doors/doors.ts';
import type { HostCall, Permissions } from '../sandbox/run.ts';
import { Script } from './script.ts';

/** Doors for one run without a simulation: nothing is stored, and no request is answered. */
export interface OfflineDoors {
  hostCalls: Readonly<Record<string, HostCall>>;
  /** Returns the bot's requests that had no answer. */
  asked: () => string[];
}

const nowhere = { accountId: 0, botId: 0, conversationId: 0, contactId: 0 };
const noStorage = {
  read: () => Promise.resolve(null),
  used: () => Promise.resolve({ place: 0, total: 0 }),
  maxBytes: Infinity,
};

/** Opens doors for a trial run, by the permissions of its manifest. */
export function openOffline(permissions: Permissions, now: number): OfflineDoors {
  const script = new Script({});
  const { send, models, knowledge } = script;
  const run = {
    owner: nowhere,
    permissions,
    now: new Date(now),
    author: null,
    account: { id: 1, name: 'Account' },
    isSystemBot: false,
    hasServer: true,
    messageId: null,
    tokensPerDay: null,
    secretNames: [],
    identity: null,
    linkedFiles: [],
    tools: [],
    secret: (name: string) => `the value of ${name}`,
  };
  // As for an event whose conversation is gone.
  const current = () => Promise.resolve({ conversation: null, contact: null, isOpen: null });
  const { hostCalls } = openDoors(run, { send, models, knowledge, current, storage: noStorage });
  return { hostCalls, asked: () => script.takeUnexpected() };
}
