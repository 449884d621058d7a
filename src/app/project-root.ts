import { fileURLToPath } from 'node:url';

/** The folder that holds plugins/ and bots/. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
