/**
 * Flags of Node for a process that loads the bundler. esbuild runs for a moment only: compiling it with optimizations takes
 * longer than all its work without, and most of its functions are never called, so that each is checked when it is.
 */
export const bundlerFlags: readonly string[] = ['--liftoff-only', '--wasm-lazy-validation'];
