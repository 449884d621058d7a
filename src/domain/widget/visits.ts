import type { Named } from '../../records/conversations/conversation.ts';
import type { Sql } from '../../postgres/sql.ts';

/** A call from a customer's web page or app: its public inbox, and its contact, if known. */
export interface Visit {
  account: Named;
  inbox: Named & { channelType: string };
  /** The inbox's sealed secrets that prove an `identifier`; empty when none was created. */
  identitySecrets: readonly string[];
  contact: { id: number; name: string; email: string | null; avatarUrl: string | null } | null;
  /** The contact's token; null without a contact, and for clients. */
  tokenId: number | null;
  /** Identifier that admits the contact's client (client-visits.ts); null for visitors of pages. */
  sourceId: string | null;
}

// Other channels reach their customers through a server of their own.
const publicChannels = ['Channel::WebWidget', 'Channel::Api'];

interface VisitRow {
  account_id: number;
  account_name: string;
  inbox_id: number;
  inbox_name: string;
  channel_type: string;
  identity_secrets: string[];
  token_id: number | null;
  contact_id: number | null;
  contact_name: string | null;
  email: string | null;
  avatar_url: string | null;
}

/**
 * Returns the public inbox with the identifier, and the contact whose token for this inbox has the SHA-256; null when there is
 * no inbox.
 */
export async function findVisit(sql: Sql, identifier: string, tokenHash: Buffer | null): Promise<Visit | null> {
  const [row] = await sql<VisitRow>(
    `SELECT i.account_id, a.name AS account_name, i.id AS inbox_id, i.name AS inbox_name, i.channel_type,
       array_remove(ARRAY[i.identity_secret, CASE WHEN i.previous_identity_secret_expires_at > now()
         THEN i.previous_identity_secret END], NULL) AS identity_secrets,
       k.id AS token_id, c.id AS contact_id, c.name AS contact_name, c.email, c.avatar_url
     FROM inboxes i JOIN accounts a ON a.id = i.account_id
     LEFT JOIN contact_tokens k ON k.token_hash = $2 AND k.account_id = i.account_id AND k.inbox_id = i.id
     LEFT JOIN contacts c ON c.account_id = k.account_id AND c.id = k.contact_id
     WHERE i.identifier = $1 AND i.channel_type = ANY ($3)`,
    [identifier, tokenHash, publicChannels],
  );
  if (!row) return null;
  const { contact_id: id, email, avatar_url: avatarUrl } = row;
  return {
    account: { id: row.account_id, name: row.account_name },
    inbox: { id: row.inbox_id, name: row.inbox_name, channelType: row.channel_type },
    identitySecrets: row.identity_secrets,
    tokenId: row.token_id,
    sourceId: null,
    contact: id === null ? null : { id, name: row.contact_name ?? '', email, avatarUrl },
  };
}

/** Fields of an inbox that pages show before the first message. */
export interface PublicInbox {
  name: string;
  avatarUrl: string | null;
  /** The web origins whose pages may call it; the service's own always may. */
  allowedOrigins: readonly string[];
}

/** Returns the public inbox with the identifier; null when there is none. */
export async function findPublicInbox(sql: Sql, identifier: string): Promise<PublicInbox | null> {
  const [row] = await sql<{ name: string; avatar_url: string | null; allowed_origins: string[] }>(
    'SELECT name, avatar_url, allowed_origins FROM inboxes WHERE identifier = $1 AND channel_type = ANY ($2)',
    [identifier, publicChannels],
  );
  return row ? { name: row.name, avatarUrl: row.avatar_url, allowedOrigins: row.allowed_origins } : null;
}
