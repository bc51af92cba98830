import type { Records } from "./Records.ts"
import type { StateImage } from "./StateImage.ts"

/** Records in the order in which they became idle, linked through two of their own cells. Every operation is O(1). */
export class IdleList {
  private readonly records: Records
  /** The cell that names the record idle before this one; the next cell names the one after. */
  private readonly link: number
  private first = 0
  private last = 0

  constructor(records: Records, link: number) {
    this.records = records
    this.link = link
  }

  /** The record that has been idle for longest; 0 when none is. */
  get longest(): number {
    return this.first
  }

  /** Adds a record that is not in the list. */
  add(id: number): void {
    this.setBefore(id, this.last)
    this.setAfter(id, 0)
    if (this.last === 0) {
      this.first = id
    } else {
      this.setAfter(this.last, id)
    }
    this.last = id
  }

  /** Takes out a record of the list. */
  remove(id: number): void {
    const cells = this.records.page(id)
    const at = this.records.at(id) + this.link
    const before = cells[at] ?? 0
    const after = cells[at + 1] ?? 0
    if (before === 0) {
      this.first = after
    } else {
      this.setAfter(before, after)
    }
    if (after === 0) {
      this.last = before
    } else {
      this.setBefore(after, before)
    }
  }

  /** Writes the ends of the list, or reads them: the links are in the records. */
  image(image: StateImage): void {
    this.first = image.number(this.first)
    this.last = image.number(this.last)
  }

  private setBefore(id: number, other: number): void {
    this.records.page(id)[this.records.at(id) + this.link] = other
  }

  private setAfter(id: number, other: number): void {
    this.records.page(id)[this.records.at(id) + this.link + 1] = other
  }
}
