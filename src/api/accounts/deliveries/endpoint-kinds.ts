/** The words and kinds of endpoints, by the noun of their paths. */
export const endpointKinds = {
  webhooks: { kind: 'webhook', a: 'a webhook' },
  agent_bots: { kind: 'bot', a: 'an agent bot' },
} as const;
