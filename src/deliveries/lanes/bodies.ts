/** SQL of the body of an event for the audience of a delivery's endpoint, in the default format. */
export function bodyOf(delivery: string, event: string): string {
  return `(CASE ${delivery}.endpoint_kind WHEN 'bot' THEN ${event}.bot_payload
    WHEN 'webhook' THEN ${event}.account_payload ELSE coalesce(${event}.account_payload, ${event}.bot_payload) END)`;
}
