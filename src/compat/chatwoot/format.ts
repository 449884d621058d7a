/** How what is created through the profile is told of events: in their words. */
export const theirFormat = { format: 'chatwoot' } as const;
