import { Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { FilledCopy, FollowStoreUnavailable } from "../../api/schemas/Copying.ts"
import type { FollowProgress, FollowStore } from "./FollowStore.ts"
import { byPosition, CopyPosition } from "./positions.ts"

/** Copies read per query. */
const BATCH_SIZE = 5000

/** Positions of one follow. */
class FollowLedger {
  readonly generation: string
  readonly positions = new Map<Mint, CopyPosition>()
  /** Copies applied so far. */
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

/** Positions from all copies of one account, updated incrementally. */
export class CopyLedger {
  readonly #accountId: string
  readonly #store: Pick<FollowStore["Service"], "inTurn" | "progress">
  readonly #follows = new Map<string, FollowLedger>()

  constructor(accountId: string, store: Pick<FollowStore["Service"], "inTurn" | "progress">) {
    this.#accountId = accountId
    this.#store = store
  }

  /** Copies held. */
  get size(): number {
    return this.#follows.values().reduce((sum, { count }) => sum + count, 0)
  }

  /** The positions of one follow, or of all. */
  positions(followId: string | null): ReadonlyArray<CopyPosition> {
    const ledgers = followId === null ? Array.from(this.#follows.values()) : [this.#follows.get(followId)]
    return ledgers.flatMap((ledger) => Array.from(ledger?.positions.values() ?? []))
  }

  /**
   * Reads the copies filled since the previous call. One call at a time. After a failure, the copies read so far are
   * kept.
   */
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
    const ledger = known?.generation === generation ? known : new FollowLedger(generation)
    this.#follows.set(followId, ledger)
    const accountId = this.#accountId
    const read = Effect.suspend(() =>
      this.#store.inTurn({
        accountId,
        followId,
        after: ledger.count,
        through: Math.min(filled, ledger.count + BATCH_SIZE)
      })
    )
    const readSome = Effect.tap(read, (copies) => Effect.sync(() => ledger.take(copies)))
    // A follow deleted meanwhile has no more copies.
    return Effect.whileLoop({
      while: () => ledger.count < filled && this.#follows.get(followId) === ledger,
      body: () => readSome,
      step: (copies) => {
        if (copies.length === 0) {
          this.#follows.delete(followId)
        }
      }
    })
  }
}
