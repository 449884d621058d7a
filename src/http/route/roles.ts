import type { Actor } from '../../events/transaction.ts';

/** The ways into the API: to one account, to what lies outside of accounts, to one inbox for its customers, for anybody. */
export type DoorName = 'account' | 'platform' | 'visitor' | 'open';

/** What is known of a caller when its role is judged. */
export interface Caller {
  kind: Actor['kind'];
  /** A person's in the account; null for everybody else. */
  role: Actor['role'];
  /** Known outside of accounts only. */
  platformAdmin?: boolean;
}

/** Everything that follows from a role. */
interface RoleFacts {
  door: DoorName;
  admits: (caller: Caller) => boolean;
  /** The sentence of the 403 for callers whom it does not admit. */
  refusal: string;
  /** Who may call, for the reader of the API's documentation. */
  told: string;
  /** OpenAPI security requirements: any one of them will do. */
  security: readonly Readonly<Record<string, readonly []>>[];
  /** The statuses of refusals that come from looking at the token. */
  errors: readonly number[];
  /** Whether the caller is known again by its token, and so may send a POST again under an Idempotency-Key. */
  keyed: boolean;
  limits: {
    /** Counted per address, before anything is looked up. */
    arriving?: 'sessions';
    /** Counted per token or contact: for each call, or for each that is no POST where `posting` says another. */
    calling?: 'requests';
    posting?: 'contactWrites';
    /** Counted per address, by the characters of the body's JSON. */
    storing?: 'visitorBytes';
  };
  /** Whose part of the database's connections it takes: see FairGate. */
  share: 'account' | 'visitors' | 'caller';
}

const token = {
  security: [{ api_access_token: [] }, { bearer: [] }],
  errors: [401, 403, 429],
  keyed: true,
  limits: { calling: 'requests' },
} as const;
const account = { ...token, door: 'account', share: 'account' } as const;
const platform = { ...token, door: 'platform', share: 'caller' } as const;
const visitor = { door: 'visitor', refusal: '', errors: [401, 429], share: 'visitors' } as const;

/** The roles: the least that a caller must be to use an operation, and everything that follows from that. */
const roles = {
  anyone: {
    door: 'open',
    admits: () => true,
    refusal: '',
    told: 'Needs no access token.',
    security: [],
    errors: [],
    keyed: false,
    limits: {},
    share: 'caller',
  },
  bot: {
    ...account,
    admits: ({ kind }) => kind !== 'contact',
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
} as const satisfies Record<string, RoleFacts>;

/** The least that a caller must be. */
export type Role = keyof typeof roles;

/** The roles of those who come in by the door. */
export type RoleAt<Door extends DoorName> = {
  [Name in Role]: (typeof roles)[Name]['door'] extends Door ? Name : never;
}[Role];

/** Everything that follows from the role. */
export function factsOf(role: Role): RoleFacts {
  return roles[role];
}
