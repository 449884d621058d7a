/** SQL of the body of an event for the audience of a delivery's endpoint, in the default format. */
export function bodyOf(delivery: string, event: string): string {
  return `(CASE ${delivery}.endpoint_kind WHEN 'bot' THEN ${event}.bot_payload
    WHEN 'automation' THEN coalesce(${event}.account_payload, ${event}.bot_payload) ELSE ${event}.account_payload END)`;
}
