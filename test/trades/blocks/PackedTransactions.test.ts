import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { BlockTransaction } from "../../../src/trades/blocks/TradeBlock.ts"
import type { BalanceChange } from "../../../src/domain/market/Trade.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { PackedTransactions, packTransactions, visitInParts } from "../../../src/trades/blocks/PackedTransactions.ts"
import { leg, transactionOf } from "../../market/tape/decoded.ts"
import { walletOf } from "../../market/tape/tape.ts"
import { plain } from "./plainTransactions.ts"

const some = (many: number): ReadonlyArray<BlockTransaction> =>
  Array.from({ length: many }, (_, index) =>
    transactionOf({ index, legs: [leg({ indexInBlock: index })], changes: [changed(BigInt(index))] })
  )

const changed = (after: bigint): BalanceChange => ({
  owner: walletOf(1),
  mint: SOL,
  before: 0n,
  after,
  delta: after,
  decimals: 9,
  native: true,
  cause: "transfer"
})

it("gives back what was packed, every time it is read", () => {
  for (const many of [0, 1, 24, 25, 200]) {
    const packed = new PackedTransactions(packTransactions(some(many)))
    assert.deepStrictEqual(plain(packed), some(many))
    assert.deepStrictEqual(plain(packed), some(many))
  }
})

it.effect("yields between the parts of a block, and not once it has ended", () =>
  Effect.gen(function* () {
    const order: Array<string> = []
    const visiting = yield* visitInParts(some(49), ({ index }) => {
      if (index % 24 === 0) {
        order.push(`part ${index / 24}`)
      }
    }).pipe(Effect.forkChild({ startImmediately: true }))
    order.push("another")
    yield* Fiber.join(visiting)
    assert.deepStrictEqual(order, ["part 0", "another", "part 1", "part 2"])
  })
)
