/** Columns of a delivery that a claim has taken. */
export const takenColumns = [
  'id',
  'lane_id',
  'attempt',
  'failures',
  'claims',
  'trigger',
  'account_id',
  'event_id',
  'endpoint_kind',
  'endpoint_id',
  'forwarded',
  'format',
];
const readColumns = [
  'account_name',
  'event_name',
  'conversation_id',
  'depth',
  'is_test',
  'body',
  'formatted',
  'url',
  'secret',
  'older_secrets',
  'disabled_reason',
  'cancel_reason',
  'runs',
  'is_proven',
  'headers',
  'auth',
  'beside',
];

/** The columns of `takenRows`. */
export const headColumns = [...takenColumns, ...readColumns];
