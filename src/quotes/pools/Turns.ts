/** Who asks: the id of a key, or null for the service itself. */
export type RequesterId = string | null

/** A queue in which requesters take turns. */
export class Turns<Item> {
  // In the order of the next turns.
  readonly #items = new Map<RequesterId, Set<Item>>()

  add(requester: RequesterId, item: Item): void {
    const own = this.#items.get(requester) ?? new Set()
    this.#items.set(requester, own.add(item))
  }

  delete(requester: RequesterId, item: Item): void {
    const own = this.#items.get(requester)
    if (own?.delete(item) === true && own.size === 0) {
      this.#items.delete(requester)
    }
  }

  shift(): Item | undefined {
    for (const [requester, own] of this.#items) {
      this.#items.delete(requester)
      for (const item of own) {
        own.delete(item)
        if (own.size > 0) {
          this.#items.set(requester, own)
        }
        return item
      }
    }
    return undefined
  }

  /** Number of items of the requester. */
  sizeOf(requester: RequesterId): number {
    return this.#items.get(requester)?.size ?? 0
  }

  /** Place of an item among its requester's items, from 0; -1 when it is not there. */
  placeOf(requester: RequesterId, item: Item): number {
    return Array.from(this.#items.get(requester) ?? []).indexOf(item)
  }

  /** How many items of other requesters come before this place of the requester. */
  before(requester: RequesterId, place: number): number {
    let count = 0
    for (const [other, { size }] of this.#items) {
      count += other === requester ? 0 : Math.min(size, place)
    }
    return count
  }
}
