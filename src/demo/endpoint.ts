/**
 * Where `npm run demo` listens for the webhooks it shows: a loopback address and port that nothing else uses. With
 * DEMO the service may call this one endpoint, although private addresses are closed to it otherwise.
 */
export const demoEndpoint = { address: '127.83.66.1', port: 38366 } as const;
