import type { ModelServer } from './chat.ts';

/**
 * Asks the server's model for the vectors of texts, in the order of the texts, all of the same length. `model` of the server
 * is the one for embeddings. Asks once. Rejects with a ModelError; `refused` is its code for texts that the server does not take.
 */
export type Embed = (server: ModelServer, texts: readonly string[], signal: AbortSignal) => Promise<number[][]>;
