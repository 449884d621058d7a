import type { Mutant } from './mutant.ts';

/** Every planted mistake. */
export const mutants: readonly Mutant[] = [];
