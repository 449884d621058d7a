/**
 * SQL of an endpoint's secrets, sealed, that sign beside the present one, newest first; null without any. Nearly always there
 * is none, which costs no more than the comparison.
 */
export function olderSecretsOf(endpoint: string): string {
  return `CASE WHEN ${endpoint}.older_secrets <> '[]' THEN (
      SELECT array_agg(o.one->>'secret' ORDER BY o.place) FROM jsonb_array_elements(${endpoint}.older_secrets)
        WITH ORDINALITY AS o (one, place) WHERE (o.one->>'endsAt')::timestamptz > now()) END`;
}
