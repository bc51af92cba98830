import type { Records } from "./Records.ts"
import type { StateImage } from "./StateImage.ts"

/** Records in the order in which they became idle, each linked to its neighbours. Every operation is O(1). */
export class IdleList {
  readonly #records: Records
  /** The cell with the number of the previous idle record. The next cell has the number of the following one. */
  readonly #link: number
  #first = 0
  #last = 0

  constructor(records: Records, link: number) {
    this.#records = records
    this.#link = link
  }

  /** The record that has been idle longest; 0 when none is idle. */
  get longest(): number {
    return this.#first
  }

  /** Adds a record that is not in the list. */
  add(id: number): void {
    this.#setBefore(id, this.#last)
    this.#setAfter(id, 0)
    if (this.#last === 0) {
      this.#first = id
    } else {
      this.#setAfter(this.#last, id)
    }
    this.#last = id
  }

  /** Removes a record that is in the list. */
  remove(id: number): void {
    const cells = this.#records.page(id)
    const at = this.#records.at(id) + this.#link
    const before = cells[at] ?? 0
    const after = cells[at + 1] ?? 0
    if (before === 0) {
      this.#first = after
    } else {
      this.#setAfter(before, after)
    }
    if (after === 0) {
      this.#last = before
    } else {
      this.#setBefore(after, before)
    }
  }

  /** Writes or reads the ends of the list. The links are in the records. */
  image(image: StateImage): void {
    this.#first = image.number(this.#first)
    this.#last = image.number(this.#last)
  }

  #setBefore(id: number, other: number): void {
    this.#records.page(id)[this.#records.at(id) + this.#link] = other
  }

  #setAfter(id: number, other: number): void {
    this.#records.page(id)[this.#records.at(id) + this.#link + 1] = other
  }
}
