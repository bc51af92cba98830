/** Open sessions of `/mcp`, least recently used first. Their number is limited in all and for each key. */

/** One session. */
export interface Session {
  /** Id of the key that opened it. */
  readonly holder: string
  /** Version of the protocol that both sides agreed on. */
  readonly version: string
}

/** Bounds of a list. */
export interface SessionBounds {
  readonly all: number
  readonly perHolder: number
}

/**
 * Session ids and their holders. Synchronous. A session that has to make room is returned, so that the caller can end
 * it.
 */
export class SessionList {
  readonly #bounds: SessionBounds
  // In order of last use.
  readonly #sessions = new Map<string, Session>()

  constructor(bounds: SessionBounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#sessions.size
  }

  /** The session of this holder, whose use is recorded; null when the holder has no such session. */
  use(id: string, holder: string): Session | null {
    const session = this.#sessions.get(id)
    if (session?.holder !== holder) {
      return null
    }
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return session
  }

  /** Removes a session. False when the holder has no such session. */
  remove(id: string, holder: string): boolean {
    return this.#sessions.get(id)?.holder === holder && this.#sessions.delete(id)
  }

  /** Removes every session of a holder, and returns their ids. */
  removeAll(holder: string): ReadonlyArray<string> {
    const ids = Array.from(this.#sessions).flatMap(([id, session]) => (session.holder === holder ? [id] : []))
    ids.forEach((id) => this.#sessions.delete(id))
    return ids
  }

  /**
   * Adds a session. Returns the session that has to make room: the oldest of the same holder, otherwise the oldest of
   * all; null while there is room.
   */
  add(id: string, session: Session): string | null {
    const own = Array.from(this.#sessions).filter(([, { holder }]) => holder === session.holder)
    const [oldest] =
      own.length >= this.#bounds.perHolder ? own : this.#sessions.size >= this.#bounds.all ? this.#sessions : []
    this.#sessions.set(id, session)
    if (oldest === undefined) {
      return null
    }
    this.#sessions.delete(oldest[0])
    return oldest[0]
  }
}
