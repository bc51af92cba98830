import type { Mint } from "../../domain/Address.ts"

/** An entry of the index. */
export interface Indexed {
  /** The two mints; null until they are known for certain. */
  readonly mints: readonly [Mint, Mint] | null
  /** While the entry's mints are unknown: it trades at least one of these. Null when it may trade any mint. */
  readonly candidates: ReadonlyArray<Mint> | null
  /**
   * True when the entry may trade `a`, and also `b` unless `b` is null. Called only while the entry's mints are
   * unknown.
   */
  readonly mayTrade: (a: Mint, b: Mint | null) => boolean
}

/**
 * Entries that trade a mint or a pair, and a value computed from them. The value lasts until one of the entries
 * changes, leaves or is added.
 */
export interface View<Entry, Value> {
  readonly a: Mint
  readonly b: Mint | null
  readonly entries: ReadonlySet<Entry>
  value: Value | null
}

interface KeptView<Entry, Value> extends View<Entry, Value> {
  readonly entries: Set<Entry>
}

/**
 * How many views are kept. Each has an entry, but entries with unknown mints are in the views of all pairs that
 * anybody asks for.
 */
const MOST_VIEWS = 20_000

/** Entries by mint and by pair. Each view caches one value. */
export class PairIndex<Entry extends Indexed, Value> {
  readonly #placed = new Map<Mint, Map<Mint, Set<Entry>>>()
  /** Entries whose mints are unknown, by each of their candidates; null: those that may trade any mint. */
  readonly #unplaced = new Map<Mint | null, Set<Entry>>()
  /** The views that have entries. The view of a pair is kept under both mints. */
  readonly #views = new Map<Mint, Map<Mint | null, KeptView<Entry, Value>>>()
  #viewCount = 0

  add(entry: Entry): void {
    if (entry.mints === null) {
      for (const mint of entry.candidates ?? [null]) {
        this.#unplaced.set(mint, (this.#unplaced.get(mint) ?? new Set()).add(entry))
      }
      this.#enter(entry, this.#possibleViews(entry))
      return
    }
    const [a, b] = entry.mints
    this.#pair(a, b).add(entry)
    this.#pair(b, a).add(entry)
    this.#enter(entry, this.#viewsOfPair(a, b))
  }

  /** Files an entry under its pair. Call it once the entry's mints are set. */
  place(entry: Entry): void {
    const left = this.#removeUnplaced(entry)
    this.add(entry)
    // Only now: the views of its own pair have the entry again.
    this.#dropEmpty(left)
  }

  remove(entry: Entry): void {
    this.#dropEmpty(this.#removeUnplaced(entry))
    if (entry.mints !== null) {
      const [a, b] = entry.mints
      this.#unpair(a, b, entry)
      this.#unpair(b, a, entry)
      const views = this.#viewsOfPair(a, b)
      this.#leave(entry, views)
      this.#dropEmpty(views)
    }
  }

  /** Invalidates the cached values of all views that contain the entry. */
  touch(entry: Entry): void {
    const views = entry.mints === null ? this.#possibleViews(entry) : this.#viewsOfPair(...entry.mints)
    for (const view of views) {
      view.value = null
    }
  }

  /** Mints that share an entry with this one. Entries with unknown mints do not count. */
  partnersOf(mint: Mint): Iterable<Mint> {
    return this.#placed.get(mint)?.keys() ?? []
  }

  /**
   * Entries that trade `a`, and also `b` unless `b` is null. The view of a pair is kept up to date while it has entries, and
   * entries that are placed move to its end. The view of a mint has its entries grouped by partner: once an entry is added,
   * placed or removed, the next call returns a new view.
   */
  view(a: Mint, b: Mint | null): View<Entry, Value> {
    const known = this.#views.get(a)?.get(b)
    if (known !== undefined) {
      return known
    }
    const view: KeptView<Entry, Value> = { a, b, entries: this.#entries(a, b), value: null }
    if (view.entries.size > 0) {
      this.#keep(view)
    }
    return view
  }

  #entries(a: Mint, b: Mint | null): Set<Entry> {
    const pairs = this.#placed.get(a)
    const entries = new Set<Entry>()
    for (const placed of b === null ? (pairs?.values() ?? []) : [pairs?.get(b) ?? []]) {
      for (const entry of placed) {
        entries.add(entry)
      }
    }
    for (const mint of b === null ? [a, null] : [a, b, null]) {
      for (const entry of this.#unplaced.get(mint) ?? []) {
        if (entry.mayTrade(a, b)) {
          entries.add(entry)
        }
      }
    }
    return entries
  }

  /** The views that an entry with unknown mints is in. */
  #possibleViews({ candidates, mayTrade }: Entry): ReadonlyArray<KeptView<Entry, Value>> {
    const maps = candidates === null ? this.#views.values() : candidates.map((mint) => this.#views.get(mint))
    return Array.from(maps).flatMap((views) =>
      Array.from(views?.values() ?? []).filter((view) => mayTrade(view.a, view.b))
    )
  }

  #viewsOfPair(a: Mint, b: Mint): ReadonlyArray<KeptView<Entry, Value>> {
    const ofA = this.#views.get(a)
    const views: Array<KeptView<Entry, Value>> = []
    for (const view of [ofA?.get(b), ofA?.get(null), this.#views.get(b)?.get(null)]) {
      if (view !== undefined) {
        views.push(view)
      }
    }
    return views
  }

  #change(views: ReadonlyArray<KeptView<Entry, Value>>, change: (entries: Set<Entry>) => void): void {
    for (const view of views) {
      view.value = null
      if (view.b === null) {
        this.#drop(view)
      } else {
        change(view.entries)
      }
    }
  }

  #enter(entry: Entry, views: ReadonlyArray<KeptView<Entry, Value>>): void {
    this.#change(views, (entries) => entries.add(entry))
  }

  #leave(entry: Entry, views: ReadonlyArray<KeptView<Entry, Value>>): void {
    this.#change(views, (entries) => entries.delete(entry))
  }

  #dropEmpty(views: ReadonlyArray<KeptView<Entry, Value>>): void {
    for (const view of views) {
      if (view.entries.size === 0) {
        this.#drop(view)
      }
    }
  }

  #keep(view: KeptView<Entry, Value>): void {
    if (this.#viewCount >= MOST_VIEWS) {
      this.#views.clear()
      this.#viewCount = 0
    }
    const { a, b } = view
    this.#viewCount++
    this.#views.set(a, (this.#views.get(a) ?? new Map()).set(b, view))
    if (b !== null) {
      this.#views.set(b, (this.#views.get(b) ?? new Map()).set(a, view))
    }
  }

  #drop(view: KeptView<Entry, Value>): void {
    const { a, b } = view
    if (this.#views.get(a)?.get(b) !== view) {
      return
    }
    this.#viewCount--
    this.#dropFrom(a, b)
    if (b !== null) {
      this.#dropFrom(b, a)
    }
  }

  #dropFrom(a: Mint, b: Mint | null): void {
    const views = this.#views.get(a)
    views?.delete(b)
    if (views?.size === 0) {
      this.#views.delete(a)
    }
  }

  /** Removes an entry from those with unknown mints. Returns the views that it was in, which may be empty now. */
  #removeUnplaced(entry: Entry): ReadonlyArray<KeptView<Entry, Value>> {
    let wasUnplaced = false
    for (const mint of entry.candidates ?? [null]) {
      const entries = this.#unplaced.get(mint)
      wasUnplaced = entries?.delete(entry) === true || wasUnplaced
      if (entries?.size === 0) {
        this.#unplaced.delete(mint)
      }
    }
    const views = wasUnplaced ? this.#possibleViews(entry) : []
    this.#leave(entry, views)
    return views
  }

  #pair(a: Mint, b: Mint): Set<Entry> {
    const partners = this.#placed.get(a) ?? new Map<Mint, Set<Entry>>()
    this.#placed.set(a, partners)
    const entries = partners.get(b) ?? new Set<Entry>()
    partners.set(b, entries)
    return entries
  }

  #unpair(a: Mint, b: Mint, entry: Entry): void {
    const partners = this.#placed.get(a)
    const entries = partners?.get(b)
    entries?.delete(entry)
    if (entries?.size === 0) {
      partners?.delete(b)
    }
    if (partners?.size === 0) {
      this.#placed.delete(a)
    }
  }
}
