/** Faults of a feed that did not end its connection, counted until they are taken. */
export class FeedFaults {
  /** Accounts and notifications that could not be decoded. */
  malformed = 0
  /** Full queues of events that a snapshot replaced. */
  overflows = 0

  /** The counts since the last call. */
  take(): { readonly malformed: number; readonly overflows: number } {
    const { malformed, overflows } = this
    this.malformed = 0
    this.overflows = 0
    return { malformed, overflows }
  }
}
