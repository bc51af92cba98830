/** Where the next page begins: in which view, at which place, and until when it may be asked for. */
export interface Pin {
  /** Tells the views of this process from those of every other. */
  readonly origin: string
  readonly view: number
  readonly place: number
  /** Milliseconds since the Unix epoch. */
  readonly untilMs: number
}

/** A snapshot, and where its first page begins. */
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

/** Snapshots that stay as they were while callers turn their pages. Bounded: the oldest goes first. */
export class PinnedViews<View> {
  private readonly kept = new Map<number, Kept<View>>()
  private readonly origin: string
  private readonly most: number
  private readonly lifeMs: number
  private readonly sharedMs: number
  private made = 0

  /** A page can be asked for during `lifeMs`; callers who come within `sharedMs` of each other read the same snapshot. */
  constructor(
    origin: string,
    { lifeMs, most, sharedMs }: { readonly lifeMs: number; readonly most: number; readonly sharedMs: number }
  ) {
    this.origin = origin
    this.most = most
    this.lifeMs = lifeMs
    this.sharedMs = sharedMs
  }

  /** The snapshot that a first page is of, where a recent one of the same key will do; null where it will not. */
  recent(key: string, nowMs: number): Opened<View> | null {
    const kept = Array.from(this.kept.values()).findLast(
      (each) => each.key === key && nowMs - each.madeAtMs < this.sharedMs && nowMs >= each.madeAtMs
    )
    return kept === undefined ? null : this.opened(kept)
  }

  /** Keeps a new snapshot, and opens it. */
  add(key: string, nowMs: number, view: View): Opened<View> {
    for (const { id, madeAtMs } of this.kept.values()) {
      if (this.kept.size >= this.most || nowMs > madeAtMs + this.lifeMs) {
        this.kept.delete(id)
      }
    }
    const added = { id: ++this.made, key, madeAtMs: nowMs, view }
    this.kept.set(added.id, added)
    return this.opened(added)
  }

  /** The snapshot of a later page; null once it is gone. */
  get({ origin, untilMs, view }: Pin, nowMs: number): View | null {
    return origin === this.origin && nowMs <= untilMs ? (this.kept.get(view)?.view ?? null) : null
  }

  private opened({ id, madeAtMs, view }: Kept<View>): Opened<View> {
    return { view, pin: { origin: this.origin, view: id, place: 0, untilMs: madeAtMs + this.lifeMs } }
  }
}
