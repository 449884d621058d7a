/**
 * Counts of each hour (UTC) of an account, made after the fact: `report_feeds` tells how far its feed is counted,
 * `report_progress` how far the attempts of all accounts are. Ids of attempts are given before their commits, so those up to
 * `seen_to` are counted once every transaction has ended that was running when they were seen (`seen_xid`).
 */
export const reports = `
  CREATE TABLE report_hours (
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    hour timestamptz NOT NULL,
    measure text NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (account_id, hour, measure)
  ) WITH (fillfactor = 70);
  CREATE INDEX report_hours_by_age ON report_hours (hour);
  CREATE TABLE report_feeds (
    account_id bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    position bigint NOT NULL
  ) WITH (fillfactor = 70);
  CREATE TABLE report_progress (
    source text PRIMARY KEY,
    counted_to bigint NOT NULL,
    seen_to bigint NOT NULL,
    seen_xid xid8 NOT NULL
  );
  INSERT INTO report_progress (source, counted_to, seen_to, seen_xid) VALUES ('attempts', 0, 0, '0');`;
