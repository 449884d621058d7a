/** Bounds of a sandbox process, in milliseconds; tests pass others. */
export interface ProcessBounds {
  /** The processor time that a process may take to start. */
  startComputingMs: number;
  /** The time that may pass until it has started, however busy the machine is. */
  startMs: number;
  /** The time that a run may lose because the machine is busy; then it is repeated later. */
  stallMs: number;
}

export const processBounds: ProcessBounds = { startComputingMs: 10_000, startMs: 60_000, stallMs: 60_000 };
