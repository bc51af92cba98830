/** Source of a demand: the id of a key, or null for the service itself. */
export type RequesterId = string | null

/** Items of which the requesters take turns. */
export class Turns<Item> {
  // The requester whose turn it is comes first.
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

  /** Items of the requester. */
  sizeOf(requester: RequesterId): number {
    return this.#items.get(requester)?.size ?? 0
  }

  /** The place of an item among those of its requester, from 0; -1 when it is not there. */
  placeOf(requester: RequesterId, item: Item): number {
    return Array.from(this.#items.get(requester) ?? []).indexOf(item)
  }

  /** Items of the others that come before this place of the requester. */
  before(requester: RequesterId, place: number): number {
    let count = 0
    for (const [other, { size }] of this.#items) {
      count += other === requester ? 0 : Math.min(size, place)
    }
    return count
  }
}
