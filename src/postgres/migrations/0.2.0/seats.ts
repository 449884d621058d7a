/**
 * Seats: agents as an account knows them, apart from the persons (rows of users) who sit in them. In 0.1.0 a membership showed
 * the person's own name, address and avatar; each membership becomes a seat under the same id with a copy of them. A person
 * who has not accepted an invitation yet sits nowhere; an agent who has left keeps a seat that names the author.
 */
export const seats = `
  -- Seats and users draw their ids from one sequence: no agent of an account has the id of a user it is not.
  CREATE TABLE seats (
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    id bigint NOT NULL DEFAULT nextval('users_id_seq'),
    person_id bigint REFERENCES users ON DELETE CASCADE,
    name text NOT NULL,
    email text NOT NULL,
    avatar_url text,
    left_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT seats_tenant PRIMARY KEY (account_id, id)
  );

  INSERT INTO seats (account_id, id, person_id, name, email, avatar_url, left_at, created_at)
  SELECT known.account_id, u.id,
    CASE WHEN EXISTS (SELECT FROM access_tokens WHERE user_id = u.id) OR (u.confirmed AND NOT EXISTS (
      SELECT FROM invitations i WHERE i.account_id = known.account_id AND i.user_id = u.id AND i.closed_at IS NULL))
    THEN u.id END,
    u.name, u.email, u.avatar_url, CASE WHEN g.id IS NULL THEN now() END, coalesce(g.created_at, u.created_at)
  FROM (
    SELECT account_id, user_id FROM agents
    UNION SELECT account_id, user_id FROM invitations
    UNION SELECT account_id, user_id FROM contact_notes
    UNION SELECT account_id, sender_id FROM messages WHERE sender_kind = 'user'
  ) known
  JOIN users u ON u.id = known.user_id
  LEFT JOIN agents g ON g.account_id = known.account_id AND g.user_id = known.user_id;
  CREATE UNIQUE INDEX seats_email_unique ON seats (account_id, lower(email)) WHERE left_at IS NULL;
  CREATE UNIQUE INDEX seats_person_unique ON seats (person_id, account_id) WHERE left_at IS NULL;
  CREATE INDEX seats_person ON seats (person_id);
  CREATE INDEX seats_waiting ON seats (lower(email)) WHERE person_id IS NULL AND left_at IS NULL;
  UPDATE invitations i SET closed_at = now() FROM seats s
  WHERE i.closed_at IS NULL AND s.account_id = i.account_id AND s.id = i.user_id AND s.person_id IS NOT NULL;

  ALTER TABLE agents DROP CONSTRAINT agents_user_id_fkey,
    ADD CONSTRAINT agents_seat FOREIGN KEY (account_id, user_id) REFERENCES seats (account_id, id) ON DELETE CASCADE;
  DROP INDEX agents_user;
  ALTER TABLE invitations DROP CONSTRAINT invitations_user_id_fkey,
    ADD CONSTRAINT invitations_seat FOREIGN KEY (account_id, user_id) REFERENCES seats (account_id, id) ON DELETE CASCADE;
  DROP INDEX invitations_user;
  CREATE INDEX invitations_by_seat ON invitations (account_id, user_id);
  ALTER TABLE contact_notes DROP CONSTRAINT contact_notes_user_id_fkey,
    ADD CONSTRAINT contact_notes_author FOREIGN KEY (account_id, user_id) REFERENCES seats (account_id, id);
  DROP INDEX contact_notes_user;
  CREATE INDEX contact_notes_by_author ON contact_notes (account_id, user_id);`;
