/** Shards keep the pause of one growing map below a millisecond, however many names there are. */
const SHARDS = 256

/** Numbers for names: the same while a name is held, used again after it was let go. Number 0 names nothing. */
export class Names {
  private readonly shards = Array.from({ length: SHARDS }, () => new Map<string, number>())
  private readonly texts: Array<string> = [""]
  private readonly free: Array<number> = []

  private shardOf(text: string): Map<string, number> {
    const last = text.length - 1
    const hash = text.charCodeAt(last) * 31 + text.charCodeAt(last - 1) * 7 + text.charCodeAt(last - 2)
    return this.shards[hash & (SHARDS - 1)] ?? new Map()
  }

  /** The number of a name; 0 when it has none. */
  find(text: string): number {
    return this.shardOf(text).get(text) ?? 0
  }

  /** The number of a name, given now when it has none. */
  hold(text: string): number {
    const shard = this.shardOf(text)
    const known = shard.get(text)
    if (known !== undefined) {
      return known
    }
    const id = this.free.pop() ?? this.texts.length
    this.texts[id] = text
    shard.set(text, id)
    return id
  }

  /** Forgets a name. */
  drop(id: number): void {
    const text = this.texts[id]
    if (text === undefined || text === "") {
      return
    }
    this.shardOf(text).delete(text)
    this.texts[id] = ""
    this.free.push(id)
  }

  /** The name of a number. */
  text(id: number): string {
    return this.texts[id] ?? ""
  }

  /** Names held. */
  get size(): number {
    return this.texts.length - 1 - this.free.length
  }
}
