import { Effect } from "effect"
import type { Mint } from "../domain/Address.ts"
import type { FilledCopy, FollowStoreUnavailable } from "../domain/wallets/Copying.ts"
import type { FollowProgress, FollowStore } from "./FollowStore.ts"
import { byPosition, CopyPosition } from "./positions.ts"

/** Copies that are asked for together. */
const TOGETHER = 5000

/** What is known of one follow. */
class FollowLedger {
  readonly generation: string
  readonly positions = new Map<Mint, CopyPosition>()
  /** How many copies it was made from. */
  count = 0

  constructor(generation: string) {
    this.generation = generation
  }

  take(copies: ReadonlyArray<FilledCopy>): void {
    for (const some of byPosition(copies)) {
      const [first] = some
      if (first !== undefined) {
        const position = this.positions.get(first.mint) ?? new CopyPosition(first)
        this.positions.set(first.mint, position)
        position.take(some)
      }
    }
    this.count += copies.length
  }
}

/** What all copies of one account came to, kept so that only what is new has to be read. */
export class CopyLedger {
  readonly #accountId: string
  readonly #store: Pick<FollowStore["Service"], "inTurn" | "progress">
  readonly #follows = new Map<string, FollowLedger>()

  constructor(accountId: string, store: Pick<FollowStore["Service"], "inTurn" | "progress">) {
    this.#accountId = accountId
    this.#store = store
  }

  /** How many copies are held. */
  get size(): number {
    return this.#follows.values().reduce((sum, { count }) => sum + count, 0)
  }

  /** The positions of one follow, or of all. */
  positions(followId: string | null): ReadonlyArray<CopyPosition> {
    const books = followId === null ? Array.from(this.#follows.values()) : [this.#follows.get(followId)]
    return books.flatMap((book) => Array.from(book?.positions.values() ?? []))
  }

  /** Reads what was filled since the last time. For one at a time; what was read stays when the rest fails. */
  readonly catchUp: Effect.Effect<void, FollowStoreUnavailable> = Effect.suspend(() =>
    Effect.flatMap(this.#store.progress(this.#accountId), (progress) => {
      const left = new Set(progress.map(({ followId }) => followId))
      for (const followId of this.#follows.keys()) {
        if (!left.has(followId)) {
          this.#follows.delete(followId)
        }
      }
      return Effect.forEach(progress, (one) => this.#follow(one), { discard: true })
    })
  )

  #follow({ filled, followId, generation }: FollowProgress): Effect.Effect<void, FollowStoreUnavailable> {
    const known = this.#follows.get(followId)
    const book = known?.generation === generation ? known : new FollowLedger(generation)
    this.#follows.set(followId, book)
    const accountId = this.#accountId
    const read = Effect.suspend(() =>
      this.#store.inTurn({ accountId, followId, after: book.count, through: Math.min(filled, book.count + TOGETHER) })
    )
    const readSome = Effect.tap(read, (copies) => Effect.sync(() => book.take(copies)))
    // A follow that was forgotten meanwhile has no more copies.
    return Effect.whileLoop({
      while: () => book.count < filled && this.#follows.get(followId) === book,
      body: () => readSome,
      step: (copies) => {
        if (copies.length === 0) {
          this.#follows.delete(followId)
        }
      }
    })
  }
}
