/** Counts faults of a feed that did not end its connection, until `take` resets them. */
export class FeedFaults {
  /** Accounts and notifications that could not be decoded. */
  malformed = 0
  /** How often a snapshot replaced a full queue of events. */
  overflows = 0

  /** The counts since the last call. */
  take(): { readonly malformed: number; readonly overflows: number } {
    const { malformed, overflows } = this
    this.malformed = 0
    this.overflows = 0
    return { malformed, overflows }
  }
}
