/** Why nothing is sent: the database is a copy of an installation that lives elsewhere, or OUTBOUND is off. */
export type HoldReason = 'copy' | 'off';

/** Whether anything may leave the service: calls over HTTP, mail, deletions of stored objects. */
export interface OutboundGate {
  /** Null while things are sent. */
  readonly heldFor: HoldReason | null;
}

/** The gate of commands, whose users want each call. */
export const openGate: OutboundGate = { heldFor: null };

/** The gate of a service, which is held until its start has looked where the database lives. */
export class OutboundSwitch implements OutboundGate {
  #heldFor: HoldReason | null = 'copy';

  get heldFor(): HoldReason | null {
    return this.#heldFor;
  }

  /** Holds or opens the gate; returns whether that changes anything. */
  set(heldFor: HoldReason | null): boolean {
    const isChange = heldFor !== this.#heldFor;
    this.#heldFor = heldFor;
    return isChange;
  }
}
