/**
 * The address at which `npm run demo` receives webhooks: a loopback address and port that no other program uses. With
 * DEMO the service may call this endpoint, although it may call no other private address.
 */
export const demoEndpoint = { address: '127.83.66.1', port: 38366 } as const;
