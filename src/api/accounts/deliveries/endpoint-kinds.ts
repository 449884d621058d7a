/** The words and kinds of endpoints, and who may look and send tests, by the noun of their paths. */
export const endpointKinds = {
  webhooks: { kind: 'webhook', a: 'a webhook', looker: 'developer' },
  agent_bots: { kind: 'bot', a: 'an agent bot', looker: 'administrator' },
} as const;
