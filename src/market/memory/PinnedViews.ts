/** The start of a page: a pinned view, a place in it, and how long it can be read. */
export interface Pin {
  /** Identifies the process that counts these views. */
  readonly origin: string
  readonly view: number
  readonly place: number
  /** Milliseconds since the Unix epoch. */
  readonly untilMs: number
}

/** A snapshot and the pin of its first page. */
export interface Opened<View> {
  readonly view: View
  readonly pin: Pin
}

interface Kept<View> {
  readonly id: number
  readonly key: string
  readonly madeAtMs: number
  readonly view: View
}

/** Bounds of a set of pinned views. */
export interface PinLimits {
  /** Pages can be read for this long after the first page. */
  readonly lifeMs: number
  /** The most views kept at once. The oldest ends first. */
  readonly most: number
  /** First pages of one key within this time share a view. */
  readonly sharedMs: number
}

/** Snapshots that do not change while callers turn their pages. Bounded: the oldest ends first. */
export class PinnedViews<View> {
  readonly #kept = new Map<number, Kept<View>>()
  readonly #origin: string
  readonly #limits: PinLimits
  readonly #ended: (view: View) => void
  #made = 0

  /** `ended` is called with each view that can no longer be read. */
  constructor(origin: string, limits: PinLimits, ended: (view: View) => void = () => {}) {
    this.#origin = origin
    this.#limits = limits
    this.#ended = ended
  }

  /** The snapshot of this key that is recent enough for a first page; null when there is none. */
  recent(key: string, nowMs: number): Opened<View> | null {
    const kept = Array.from(this.#kept.values()).findLast(
      (each) => each.key === key && nowMs - each.madeAtMs < this.#limits.sharedMs && nowMs >= each.madeAtMs
    )
    return kept === undefined ? null : this.#opened(kept, nowMs)
  }

  /** Keeps a new snapshot and opens it. */
  add(key: string, nowMs: number, view: View): Opened<View> {
    this.expire(nowMs)
    const [oldest] = this.#kept.values()
    if (oldest !== undefined && this.#kept.size >= this.#limits.most) {
      this.#end(oldest)
    }
    const added = { id: ++this.#made, key, madeAtMs: nowMs, view }
    this.#kept.set(added.id, added)
    return this.#opened(added, nowMs)
  }

  /** The snapshot of a later page; null once it has ended. */
  get({ origin, untilMs, view }: Pin, nowMs: number): View | null {
    return origin === this.#origin && nowMs <= untilMs ? (this.#kept.get(view)?.view ?? null) : null
  }

  /** Ends the views that no pin can read any more. */
  expire(nowMs: number): void {
    for (const kept of this.#kept.values()) {
      if (nowMs <= kept.madeAtMs + this.#limits.lifeMs + this.#limits.sharedMs) {
        return
      }
      this.#end(kept)
    }
  }

  /** Ends every view that matches. */
  endWhere(matches: (view: View) => boolean): void {
    Array.from(this.#kept.values())
      .filter(({ view }) => matches(view))
      .forEach((kept) => this.#end(kept))
  }

  #end({ id, view }: Kept<View>): void {
    this.#kept.delete(id)
    this.#ended(view)
  }

  #opened({ id, view }: Kept<View>, nowMs: number): Opened<View> {
    return { view, pin: { origin: this.#origin, view: id, place: 0, untilMs: nowMs + this.#limits.lifeMs } }
  }
}
