/** Installed plugins: which code each runs, which waits for approval, and all code, by hash. */
export const plugins = `
  CREATE TABLE plugin_registry (
    id boolean PRIMARY KEY DEFAULT true CHECK (id),
    revision bigint NOT NULL DEFAULT 0
  );
  INSERT INTO plugin_registry DEFAULT VALUES;
  CREATE TABLE plugin_bundles (
    hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
    plugin_id text NOT NULL,
    version text NOT NULL,
    manifest text NOT NULL,
    code text NOT NULL,
    files_hash text,
    signed_by text,
    origin text,
    packages jsonb NOT NULL DEFAULT '[]',
    released_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    activated_at timestamptz,
    CONSTRAINT plugin_bundles_owner UNIQUE (plugin_id, hash)
  );
  CREATE INDEX plugin_bundles_released ON plugin_bundles (released_at) WHERE released_at IS NOT NULL;
  CREATE TABLE plugins (
    id text PRIMARY KEY,
    source text NOT NULL CHECK (source IN ('archive', 'folder')),
    directory text,
    is_present boolean NOT NULL DEFAULT true,
    enabled boolean NOT NULL DEFAULT true,
    active_hash text,
    pending_hash text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT plugins_directory CHECK ((source = 'folder') = (directory IS NOT NULL)),
    CONSTRAINT plugins_active FOREIGN KEY (id, active_hash) REFERENCES plugin_bundles (plugin_id, hash),
    CONSTRAINT plugins_pending FOREIGN KEY (id, pending_hash) REFERENCES plugin_bundles (plugin_id, hash)
  );`;
