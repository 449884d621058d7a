import { ForbiddenCall } from '../../sandbox/run.ts';
import type { HostCall, Permissions } from '../../sandbox/run.ts';
import type { FileLinks } from '../../lib/file-links.ts';
import { customerDoors, type Author, type CustomerPorts } from './customers.ts';
import { currentDoor, type ReadCurrent } from './current.ts';
import { digestDoors } from './digests.ts';
import { fetchDoor, type SendRequest } from './fetch.ts';
import { Redaction } from './redaction.ts';
import { MailDoor, type OpenMail, type SendMail } from './mail.ts';
import { RequestBudget } from './request-budget.ts';
import type { StorageWrite } from '../../domain/bots/storage.ts';
import { searchDoor, type KnowledgePorts } from './search.ts';
import { LinkPlaceholders } from './link-placeholders.ts';
import { settled, type BurstPorts } from './settled.ts';
import { StorageDoor, type StorageOwner, type StorageReader } from './storage.ts';
import { ChatDoor, type ModelPorts } from './chat.ts';
import type { FormFiles } from './form-body.ts';
import { UnavailableError } from './errors.ts';
import { ToolDoor, type ToolPorts } from './tools.ts';
import type { TokenUsage } from '../usage.ts';

/** A door that later parts of the service may give something behind. */
type Door = (input: unknown, run: DoorRun['owner'], signal: AbortSignal) => Promise<unknown>;

/** Ports of the doors. A door without a port rejects with the code `unavailable`. */
export interface DoorPorts {
  storage?: StorageReader;
  send?: SendRequest;
  /** Files that may be sent in forms. */
  files?: FormFiles;
  /** Makes the links to files of messages that channels send. */
  links?: FileLinks;
  /** Sends mail of channels. */
  mail?: SendMail;
  models?: ModelPorts;
  knowledge?: KnowledgePorts;
  tools?: ToolPorts;
  burst?: BurstPorts;
  customers?: CustomerPorts;
  current?: ReadCurrent;
  /** How often the bot has replied in the present session of the conversation. */
  replies?: (place: { accountId: number; botId: number; conversationId: number }) => Promise<number>;
}

/** The run that the doors are for. */
export interface DoorRun {
  owner: StorageOwner;
  permissions: Permissions;
  /** The author of what it does outside of conversations, in the account; null for a run within one. */
  author: Author | null;
  account: { id: number; name: string };
  now: Date;
  /** The customer's message that the run is for; null for another event. */
  messageId: number | null;
  /** The tokens that the bot may use on a day; null for any number. */
  tokensPerDay: number | null;
  /** Whether the bot is the platform's, whose settings accounts do not see. */
  isSystemBot: boolean;
  /** Whether the bot has a server that events can be forwarded to. */
  hasServer: boolean;
  /** The value of a secret of the bot; null when it has none of this name. */
  secret: (name: string) => string | null;
  /** Names of all secrets of the bot. */
  secretNames: readonly string[];
  /** The setting by which the channel's inbox is known; null for none, and where it is a secret. */
  identity: string | null;
  /** The files of the message that a channel sends, to which its requests may have links. */
  linkedFiles: readonly { id: number; name: string }[];
  /** The bot's setting `tools`; undefined where its plugin has none. */
  tools: unknown;
}

/** The doors of one run. */
export interface Doors {
  hostCalls: Readonly<Record<string, HostCall>>;
  /** Values that the run has stored so far, to be written with its actions. */
  readonly writes: readonly StorageWrite[];
  /** Whether the run has asked to forward its event. */
  readonly forwards: boolean;
  /** Tokens of models that the run took. */
  readonly tokens: TokenUsage;
  /** Why the bot cannot answer as it is meant to, for the operator; null when it can, undefined when nothing shows it. */
  readonly health: string | null | undefined;
  /** See MailDoor. */
  readonly openMail: OpenMail | null;
  /** Replaces the secrets that were used by their names. */
  redact<Value>(value: Value): Value;
}

/** Opens the doors for one run: every call is checked against the permissions first. */
export function openDoors(run: DoorRun, ports: DoorPorts): Doors {
  const { permissions, owner } = run;
  const redaction = new Redaction();
  const storage = new StorageDoor(run, ports.storage);
  const budget = new RequestBudget();
  const links = new LinkPlaceholders({ accountId: owner.accountId, files: run.linkedFiles }, ports.links);
  const fetch = fetchDoor(run, ports.send, { redaction, budget, files: ports.files, links });
  const mail = new MailDoor(run, { send: ports.mail, redaction, budget, files: ports.files });
  const tools = new ToolDoor(run, { ports: ports.tools, send: ports.send, redaction, budget });
  const model = new ChatDoor(run, ports.models);
  let knowledge: string | null | undefined;
  const noted = (health: string | null) => (knowledge = health);
  let forwards = false;
  // The event is forwarded with the run's actions: a run that fails forwards nothing.
  const forward: Door = () => {
    forwards = true;
    return Promise.resolve(null);
  };
  const guarded =
    (name: 'llm' | 'kb' | 'tools' | 'forward', door: Door | undefined): HostCall =>
    async (input, _, signal) => {
      if (!permissions[name]) throw new ForbiddenCall(`The manifest does not ask for \`permissions.${name}\``);
      if (!door) throw new UnavailableError(name);
      return redaction.apply(await door(input, owner, signal));
    };
  return {
    hostCalls: {
      ...storage.calls,
      fetch,
      'mail.send': mail.call,
      ...digestDoors(run, links),
      ...customerDoors(run, ports.customers),
      'llm.status': guarded('llm', () => model.status()),
      'llm.chat': guarded('llm', (input, _, signal) => model.chat(input, signal)),
      'kb.search': guarded('kb', (input) => searchDoor(input, { ...owner, noted }, ports.knowledge)),
      'kb.languages': guarded('kb', async () => (await ports.knowledge?.languages?.(owner.accountId)) ?? []),
      'tools.call': guarded('tools', (input, _, signal) => tools.call(input, signal)),
      current: () => currentDoor(run, ports.current),
      replies: async () => repliesOf(owner, ports.replies),
      settled: (_, __, signal) => whatElse(run, ports.burst, signal),
      forward: guarded('forward', run.hasServer ? forward : undefined),
    },
    get writes() {
      return storage.writes.map((write) => redacted(write, redaction));
    },
    get forwards() {
      return forwards;
    },
    get tokens() {
      return model.tokens;
    },
    get openMail() {
      return mail.open;
    },
    get health() {
      return model.health ?? (knowledge === undefined ? model.health : knowledge);
    },
    redact: (value) => redaction.apply(value),
  };
}

// A bot may have read a secret out of an answer that hid it.
function redacted(write: StorageWrite, redaction: Redaction): StorageWrite {
  const key = redaction.apply(write.key);
  if (write.kind !== 'set') return { ...write, key };
  const json = JSON.stringify(redaction.apply(JSON.parse(write.json)));
  return { ...write, key, json, bytes: Buffer.byteLength(key) + Buffer.byteLength(json) };
}

function whatElse({ owner, messageId }: DoorRun, burst: BurstPorts | undefined, signal: AbortSignal) {
  const { accountId, conversationId } = owner;
  if (messageId === null || conversationId === null || !burst) return Promise.resolve([]);
  return settled(burst, { accountId, conversationId, messageId }, signal);
}

async function repliesOf({ conversationId, ...owner }: StorageOwner, count: DoorPorts['replies']): Promise<number> {
  return conversationId === null || !count ? 0 : count({ ...owner, conversationId });
}
