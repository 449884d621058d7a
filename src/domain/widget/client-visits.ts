import type { Sql } from '../../postgres/sql.ts';
import type { Visit } from './visits.ts';

// Pages have a door of their own, by contact tokens; other channels reach their customers through a server of their own.
const clientChannel = 'Channel::Api';

interface Row {
  account_id: number;
  account_name: string;
  inbox_id: number;
  inbox_name: string;
  identity_secrets: string[];
  contact_id: number | null;
  contact_name: string | null;
  email: string | null;
  avatar_url: string | null;
}

/**
 * The inbox of the API with the identifier, and its contact whose client comes in by the `source_id`; null when there is no such
 * inbox.
 */
export async function findClientVisit(sql: Sql, identifier: string, sourceId: string | null): Promise<Visit | null> {
  const [row] = await sql<Row>(
    `SELECT i.account_id, a.name AS account_name, i.id AS inbox_id, i.name AS inbox_name,
       array_remove(ARRAY[i.identity_secret, CASE WHEN i.previous_identity_secret_expires_at > now()
         THEN i.previous_identity_secret END], NULL) AS identity_secrets,
       c.id AS contact_id, c.name AS contact_name, c.email, c.avatar_url
     FROM inboxes i JOIN accounts a ON a.id = i.account_id
     LEFT JOIN contact_inboxes k ON k.account_id = i.account_id AND k.inbox_id = i.id AND k.source_id = $2 AND k.admits
     LEFT JOIN contacts c ON c.account_id = k.account_id AND c.id = k.contact_id
     WHERE i.identifier = $1 AND i.channel_type = $3`,
    [identifier, sourceId, clientChannel],
  );
  if (!row) return null;
  const { contact_id: id, email, avatar_url: avatarUrl } = row;
  return {
    account: { id: row.account_id, name: row.account_name },
    inbox: { id: row.inbox_id, name: row.inbox_name, channelType: clientChannel },
    identitySecrets: row.identity_secrets,
    tokenId: null,
    sourceId: id === null ? null : sourceId,
    contact: id === null ? null : { id, name: row.contact_name ?? '', email, avatarUrl },
  };
}
