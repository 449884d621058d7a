import { Migration } from '@mikro-orm/migrations';

/**
 * What the log of deliveries shows and finds. An event may be sent to an endpoint more than once: by the live delivery
 * (`copy` 0), and by those that somebody asks for, each with its own id as `copy` and in a lane beside the live one (`side`).
 */
export class DeliveryLog extends Migration {
  override up(): void {
    for (const statement of [deliveries, lists, attempts, lanes, events]) this.addSql(statement);
  }
}

const deliveries = `
  ALTER TABLE deliveries
    ADD trigger text NOT NULL DEFAULT 'live'
      CONSTRAINT deliveries_trigger CHECK (trigger IN ('live', 'resend', 'recover', 'test')),
    ADD copy bigint NOT NULL DEFAULT 0,
    DROP CONSTRAINT deliveries_once,
    ADD CONSTRAINT deliveries_once UNIQUE (account_id, event_id, endpoint_kind, endpoint_id, copy);`;

// Lists go from the newest to the oldest and are cut by moments. Most deliveries are delivered: those that went wrong have
// indexes of their own, which a delivery that goes well never writes.
const lists = `
  DROP INDEX deliveries_by_endpoint;
  CREATE INDEX deliveries_by_endpoint ON deliveries (account_id, endpoint_kind, endpoint_id, created_at, id);
  CREATE INDEX deliveries_failing ON deliveries (account_id, endpoint_kind, endpoint_id, created_at, id)
    WHERE state = 'pending' AND failures > 0;
  CREATE INDEX deliveries_given_up ON deliveries (account_id, endpoint_kind, endpoint_id, state, created_at, id)
    WHERE state IN ('exhausted', 'cancelled');`;

const attempts = 'ALTER TABLE attempts ADD wire json;';

const lanes = `
  ALTER TABLE lanes
    ADD side bigint NOT NULL DEFAULT 0,
    ADD is_side boolean GENERATED ALWAYS AS (side <> 0) STORED,
    DROP CONSTRAINT lanes_subject_kind_check,
    ADD CONSTRAINT lanes_subject_kind_check CHECK (subject_kind IN ('conversation', 'contact', 'webhook', 'bot')),
    DROP CONSTRAINT lanes_subject_unique,
    ADD CONSTRAINT lanes_subject_unique UNIQUE (account_id, subject_kind, subject_id, endpoint_kind, endpoint_id, side);
  DROP INDEX lanes_due;
  CREATE INDEX lanes_due ON lanes (endpoint_kind, is_side, endpoint_id, account_id, due_at) WHERE due_at IS NOT NULL;`;

const events = 'ALTER TABLE events ADD is_test boolean NOT NULL DEFAULT false;';
