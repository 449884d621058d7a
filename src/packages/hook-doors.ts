// Values that bots get for requests of other systems: part of `switchboard/bot` (bot-api.ts). It imports nothing.

/** A request of another system, verified as the manifest says. */
export interface HookRequest {
  /** The name of the hook in the manifest. */
  readonly name: string;
  readonly id: number;
  /** Values by names in lower case; those that may hold a secret are `[redacted]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as JSON; null where it is none. */
  readonly json: unknown;
  readonly text: string;
  /** The first value of each field of a form; null for another body. */
  readonly form: Readonly<Record<string, string>> | null;
  /** Unix seconds. */
  readonly received_at: number;
}

/** Marks of a contact in other systems: `identifier` counts before `email`, which counts before `phone_number`. */
export interface ContactMarks {
  identifier?: string;
  email?: string;
  phone_number?: string;
}

/** A contact with the fields that `permissions.contact` asks for. */
export interface ContactFound {
  readonly id: number;
  readonly name?: string;
  readonly email?: string | null;
  readonly phone_number?: string | null;
  readonly identifier?: string | null;
  readonly custom_attributes?: Readonly<Record<string, unknown>>;
  readonly visitor_attributes?: Readonly<Record<string, unknown>>;
}

/** `ctx.contacts`: contacts of the account by their marks. */
export interface Contacts {
  /** Null where there is none. `const contact = await ctx.contacts.find({ email: 'jo@example.com' })` */
  find(marks: ContactMarks): Promise<ContactFound | null>;
  /** Needs `"contacts": "write"`. `const { id } = await ctx.contacts.findOrCreate({ email: 'jo@example.com', name: 'Jo' })` */
  findOrCreate(
    contact: ContactMarks & { name?: string; custom_attributes?: Record<string, unknown> },
  ): Promise<{ id: number }>;
}

type Place = { contact_id: number; inbox_id: number };
type Found = { id: number; status: string };

/** `ctx.conversations`: the newest of a contact in an inbox; `open` takes one that is not resolved, else begins one. */
export interface Conversations {
  open(place: Place): Promise<Found>;
  find(place: Place & { status?: string }): Promise<Found | null>;
}

/** Fields of `ctx` in `hook_received`; the last two need \`permissions.contacts\` and \`permissions.conversations\`. */
export interface HookFields {
  readonly hook: HookRequest;
  readonly contacts: Contacts;
  readonly conversations: Conversations;
}
