/** How what is created through the profile is told of events, unless it asks for another format: in their words. */
export const theirFormat = { format: 'chatwoot' } as const;
