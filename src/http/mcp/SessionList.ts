/** Open sessions of `/mcp`, least recently used first. Their number is limited in all and for each key. */

interface Session {
  readonly holder: string
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

  /** Records the use of a session. */
  use(id: string): void {
    const session = this.#sessions.get(id)
    if (session !== undefined) {
      this.#sessions.delete(id)
      this.#sessions.set(id, session)
    }
  }

  remove(id: string): void {
    this.#sessions.delete(id)
  }

  /**
   * Adds a session. Returns the session that has to make room: the oldest of the same holder, otherwise the oldest of
   * all; null while there is room.
   */
  add(id: string, holder: string): string | null {
    const own = Array.from(this.#sessions).filter(([, session]) => session.holder === holder)
    const [oldest] =
      own.length >= this.#bounds.perHolder ? own : this.#sessions.size >= this.#bounds.all ? this.#sessions : []
    this.#sessions.set(id, { holder })
    if (oldest === undefined) {
      return null
    }
    this.#sessions.delete(oldest[0])
    return oldest[0]
  }
}
