/**
 * SQL condition: two deliveries are of the same event and go to the same endpoint. Written so that the other one is found by its
 * event, never among all that goes to the endpoint: a planner without fresh statistics takes that for short.
 */
export function isSibling(other: string, one: string): string {
  return `${other}.account_id = ${one}.account_id AND ${other}.event_id = ${one}.event_id
    AND ${other}.endpoint_kind || '' = ${one}.endpoint_kind AND ${other}.endpoint_id + 0 = ${one}.endpoint_id`;
}
