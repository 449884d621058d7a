import type { Actor } from '../../../events/transaction.ts';

/** The doors of the API: an account, the platform outside of accounts, an inbox for its customers, and the public. */
export type DoorName = 'account' | 'platform' | 'visitor' | 'open';

/** A caller as it is known when the role is checked. */
export interface Caller {
  /** `webhook`: whoever has a link that shares one. */
  kind: Actor['kind'] | 'webhook';
  /** The role of an agent in the account; null for everybody else. */
  role: Actor['role'];
  /** Known behind the platform door only. */
  platformAdmin?: boolean;
}

/** Everything that follows from a role. */
interface RoleFacts {
  door: DoorName;
  admits: (caller: Caller) => boolean;
  /** The sentence of the 403 for callers who are not admitted. */
  refusal: string;
  /** The allowed callers, in the words of the API's documentation. */
  told: string;
  /** OpenAPI security requirements, of which one suffices. */
  security: readonly Readonly<Record<string, readonly []>>[];
  /** Statuses of refusals by admission. */
  errors: readonly number[];
  /** Behind the visitor door: the `source_id` in the path admits the caller, instead of a contact token. */
  bySource?: true;
  /** Whether the token, or the path, identifies the caller, so that a POST may be repeated under an Idempotency-Key. */
  keyed: boolean;
  limits: {
    /** Counted per address, before any lookup. */
    arriving?: 'sessions' | 'signIns';
    /** Counted per token or contact, for each call; with `posting`, POSTs count against that limit instead. */
    calling?: 'requests';
    posting?: 'contactWrites';
    /** Counted per address, in characters of the body's JSON. */
    storing?: 'visitorBytes';
  };
  /** The share of the database's connections that a call uses: see FairGate. */
  share: 'account' | 'visitors' | 'caller';
}

const token = {
  security: [{ api_access_token: [] }, { bearer: [] }, { sign_in: [] }],
  errors: [401, 403, 429],
  keyed: true,
  limits: { calling: 'requests' },
} as const;
const account = { ...token, door: 'account', share: 'account' } as const;
const platform = { ...token, door: 'platform', share: 'caller' } as const;
const open = { door: 'open', admits: () => true, refusal: '', security: [], keyed: false, share: 'caller' } as const;
const client = { bySource: true, admits: () => true, security: [], errors: [429] } as const;
const visitor = { door: 'visitor', refusal: '', errors: [401, 429], share: 'visitors' } as const;

const onlyTheLog = 'This token opens the deliveries, tests and health of one webhook, and nothing else';

/** The roles: each is the least that a caller must be to use an operation. */
const roles = {
  anyone: { ...open, told: 'Needs no access token.', errors: [], limits: {} },
  newcomer: { ...open, told: 'For people who are not signed in yet.', errors: [429], limits: { arriving: 'signIns' } },
  bot: {
    ...account,
    admits: ({ kind }) => kind === 'user' || kind === 'agent_bot',
    refusal: '',
    told: 'For agents, administrators and the bots of the account, each within the conversations it may see.',
  },
  agent: {
    ...account,
    admits: ({ kind }) => kind === 'user',
    refusal: 'Bots may not do this',
    told: 'For agents and administrators of the account.',
  },
  administrator: {
    ...account,
    admits: ({ role }) => role === 'administrator',
    refusal: 'Only administrators may do this',
    told: 'For administrators of the account.',
  },
  developer: {
    ...account,
    admits: ({ kind, role }) => role === 'administrator' || kind === 'webhook',
    refusal: 'Only administrators may do this',
    told: 'For administrators of the account. For its own webhook also with the token of a link (`POST …/webhooks/:id/share`).',
  },
  user: {
    ...platform,
    admits: ({ kind }) => kind === 'user',
    refusal: 'Bots may not do this',
    told: 'For people: any access token of a person will do.',
  },
  platform: {
    ...platform,
    admits: ({ platformAdmin }) => platformAdmin === true,
    refusal: 'Only platform administrators may do this',
    told: 'For platform administrators.',
  },
  visitor: {
    ...visitor,
    admits: () => true,
    told: 'For the visitors of a web page. With a contact token in `x-contact-token` the contact it belongs to goes on.',
    security: [{}, { contact_token: [] }],
    // A visitor may have no token yet.
    keyed: false,
    limits: { arriving: 'sessions', calling: 'requests', storing: 'visitorBytes' },
  },
  contact: {
    ...visitor,
    admits: ({ kind }) => kind === 'contact',
    told: 'For the contact whose token is in `x-contact-token`, in the inbox that the token is for.',
    security: [{ contact_token: [] }],
    keyed: true,
    limits: { calling: 'requests', posting: 'contactWrites', storing: 'visitorBytes' },
  },
  newClient: {
    ...visitor,
    ...client,
    told: 'For the clients of an inbox of the API.',
    keyed: false,
    limits: { arriving: 'sessions', storing: 'visitorBytes' },
  },
  client: {
    ...visitor,
    ...client,
    told: 'For the clients of an inbox of the API: whoever knows the `source_id` in the path is let in, if the service made it or it came by this API.',
    keyed: true,
    limits: { calling: 'requests', posting: 'contactWrites', storing: 'visitorBytes' },
  },
} as const satisfies Record<string, RoleFacts>;

/** The least that a caller must be. */
export type Role = keyof typeof roles;

/** The roles of those who come in by the door. */
export type RoleAt<Door extends DoorName> = {
  [Name in Role]: (typeof roles)[Name]['door'] extends Door ? Name : never;
}[Role];

/** The sentence of the 403 for a caller whom the role does not admit. */
export function refusalOf(role: Role, { kind }: Caller): string {
  return kind === 'webhook' ? onlyTheLog : factsOf(role).refusal;
}

/** Everything that follows from the role. */
export function factsOf(role: Role): RoleFacts {
  return roles[role];
}
