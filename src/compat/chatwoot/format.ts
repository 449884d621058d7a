/** Default format of events for endpoints that are created through the profile: Chatwoot's. */
export const theirFormat = { format: 'chatwoot' } as const;
