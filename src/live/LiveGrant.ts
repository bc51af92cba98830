/** The key, session and account that a ticket admits to one stream. */
export interface LiveGrant {
  readonly keyId: string
  /** The reference of the session; null for a key. */
  readonly session: string | null
  readonly accountId: string
  /** True if the client receives control frames. */
  readonly control: boolean
  readonly streamId: string
  /**
   * Most connections of the key. When left out, the limit of the specification. Null for a connection that was counted
   * elsewhere.
   */
  readonly sockets?: number | null
}

/** A stream of frames and the grant that it was opened with. */
export interface GrantedStream<G extends LiveGrant = LiveGrant> {
  readonly grant: G
}
