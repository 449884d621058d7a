import { Migration } from '@mikro-orm/migrations';

/**
 * Files whose bytes are in an object store, by `attachments.object_key`. Whatever deletes such a row, its message or its
 * account with it, leaves the key in `discarded_objects`, for a sweep to delete the object.
 */
export class AttachmentObjects extends Migration {
  override up(): void {
    for (const statement of [keys, discarding]) this.addSql(statement);
  }
}

const keys = `
  ALTER TABLE attachments ADD object_key text;
  CREATE TABLE discarded_objects (
    object_key text NOT NULL,
    discarded_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT discarded_objects_key_unique UNIQUE (object_key)
  );
  CREATE INDEX discarded_objects_by_age ON discarded_objects (discarded_at, object_key);`;

const discarding = `
  CREATE FUNCTION discard_objects() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO discarded_objects (object_key) SELECT object_key FROM gone WHERE object_key IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;
  CREATE TRIGGER attachments_discard AFTER DELETE ON attachments REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION discard_objects();`;
