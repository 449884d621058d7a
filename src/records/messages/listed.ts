/** The columns of a message from `m` and the tables it is joined to. */
export const columns = `m.id, m.conversation_id, m.message_type, m.content, m.content_type, m.content_attributes, m.private,
  m.status, m.external_error, m.source_id, m.sender_kind, m.sender_id, m.attachments, m.created_at,
  coalesce(ct.name, u.name, b.name) AS sender_name, coalesce(ct.email, u.email) AS sender_email,
  coalesce(ct.avatar_url, u.avatar_url, b.avatar_url) AS sender_avatar`;

/** Characters of a message's text in lists of something else, and bytes of its attributes. */
const [listedCharacters, listedAttributeBytes] = [4_000, 16 * 1024];

// `start`: the position of the first character that is shown.
const shortenedFrom = (start: string): string =>
  columns
    .replace(
      'm.content,',
      `CASE WHEN length(m.content) <= ${listedCharacters} THEN m.content ELSE
         CASE WHEN ${start} > 1 THEN '…' ELSE '' END || substr(m.content, ${start}, ${listedCharacters})
         || CASE WHEN length(m.content) >= ${start} + ${listedCharacters} THEN '…' ELSE '' END END AS content,`,
    )
    .replace(
      'm.content_attributes,',
      `CASE WHEN octet_length(m.content_attributes::text) <= ${listedAttributeBytes} THEN m.content_attributes
         ELSE '{}' END AS content_attributes,`,
    );
/** Like `columns`, with long texts cut at their end, and large attributes left out. */
export const shortenedColumns = shortenedFrom('1');

/** The tables that the columns read beside `m`. */
export const joins = `
  LEFT JOIN contacts ct ON m.sender_kind = 'contact' AND ct.account_id = m.account_id AND ct.id = m.sender_id
  LEFT JOIN seats u ON m.sender_kind = 'user' AND u.account_id = m.account_id AND u.id = m.sender_id
  LEFT JOIN agent_bots b ON m.sender_kind IN ('agent_bot', 'automation') AND b.id = m.sender_id`;

// Before the found text, so that a reader sees what it is about.
const charactersBefore = 1_000;
/** Like `columns`, with long texts cut to the surroundings of the text in `$3`. */
export const excerptColumns = shortenedFrom(`greatest(1, strpos(lower(m.content), lower($3)) - ${charactersBefore})`);

const newestOf = (condition: string, shown: string): string => `(SELECT to_json(last) FROM (SELECT ${shown} FROM (
    SELECT * FROM messages WHERE ${condition} ORDER BY created_at DESC, id DESC LIMIT 1) m ${joins}) last) AS last_message`;

/** The newest message of conversation `c`, shortened, a column `last_message` of JSON for toMessage; null without messages. */
export const lastMessageColumn = newestOf('account_id = c.account_id AND conversation_id = c.id', shortenedColumns);
/** Like lastMessageColumn, of the newest that is no note, whole, in a conversation of the account `$1`. */
export const newestPublicColumn = (conversation: string): string =>
  newestOf(`account_id = $1 AND conversation_id = ${conversation} AND NOT private`, columns);
