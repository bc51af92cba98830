import type { Mint } from "../../domain/Address.ts"

/** An entry of the index. */
export interface Indexed {
  /** The two mints; null until they are known for certain. */
  readonly mints: readonly [Mint, Mint] | null
  /**
   * True when the entry may trade `a`, and also `b` unless `b` is null. Called only while the entry's mints are
   * unknown.
   */
  readonly mayTrade: (a: Mint, b: Mint | null) => boolean
}

/**
 * Entries that trade a mint or a pair, and a value computed from them. The value lasts until one of the entries
 * changes.
 */
export interface View<Entry, Value> {
  readonly entries: ReadonlyArray<Entry>
  value: Value | null
}

/** Entries by mint and by pair. Each view caches one value. */
export class PairIndex<Entry extends Indexed, Value> {
  readonly #placed = new Map<Mint, Map<Mint, Set<Entry>>>()
  readonly #unplaced = new Set<Entry>()
  readonly #views = new Map<Mint, Map<Mint | null, View<Entry, Value>>>()
  readonly #viewsOf = new Map<Entry, Set<View<Entry, Value>>>()

  add(entry: Entry): void {
    if (entry.mints === null) {
      this.#unplaced.add(entry)
      this.#forgetAll()
      return
    }
    const [a, b] = entry.mints
    this.#pair(a, b).add(entry)
    this.#pair(b, a).add(entry)
    this.#forget(a)
    this.#forget(b)
  }

  /** Files an entry under its pair. Call it once the entry's mints are set. */
  place(entry: Entry): void {
    this.#unplaced.delete(entry)
    this.#forgetAll()
    this.add(entry)
  }

  remove(entry: Entry): void {
    if (this.#unplaced.delete(entry) || entry.mints === null) {
      this.#forgetAll()
      return
    }
    const [a, b] = entry.mints
    this.#unpair(a, b, entry)
    this.#unpair(b, a, entry)
    this.#forget(a)
    this.#forget(b)
  }

  /** Invalidates the cached values of all views that contain the entry. */
  touch(entry: Entry): void {
    for (const view of this.#viewsOf.get(entry) ?? []) {
      view.value = null
    }
  }

  /** Mints that share an entry with this one. Entries with unknown mints do not count. */
  partnersOf(mint: Mint): Iterable<Mint> {
    return this.#placed.get(mint)?.keys() ?? []
  }

  /** Entries that trade `a`, and also `b` unless `b` is null. Returns the same view until its entries change. */
  view(a: Mint, b: Mint | null): View<Entry, Value> {
    const known = this.#views.get(a)?.get(b)
    if (known !== undefined) {
      return known
    }
    const view: View<Entry, Value> = { entries: this.#entries(a, b), value: null }
    const views = this.#views.get(a) ?? new Map<Mint | null, View<Entry, Value>>()
    this.#views.set(a, views.set(b, view))
    for (const entry of view.entries) {
      const of = this.#viewsOf.get(entry) ?? new Set()
      this.#viewsOf.set(entry, of.add(view))
    }
    return view
  }

  #entries(a: Mint, b: Mint | null): ReadonlyArray<Entry> {
    const pairs = this.#placed.get(a)
    const placed = b === null ? Array.from(pairs?.values() ?? []) : [pairs?.get(b) ?? []]
    const possible = Array.from(this.#unplaced).filter((entry) => entry.mayTrade(a, b))
    return [...placed.flatMap((entries) => Array.from(entries)), ...possible]
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

  #forget(mint: Mint): void {
    for (const view of this.#views.get(mint)?.values() ?? []) {
      for (const entry of view.entries) {
        this.#viewsOf.get(entry)?.delete(view)
      }
    }
    this.#views.delete(mint)
  }

  #forgetAll(): void {
    this.#views.clear()
    this.#viewsOf.clear()
  }
}
