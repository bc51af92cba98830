import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { BlockTransaction } from "../../src/solana/BlockFeed.ts"
import { PackedTransactions, packTransactions, visitTransactions } from "../../src/solana/PackedTransactions.ts"
import { leg, transactionOf } from "../market/decoded.ts"

const some = (many: number): ReadonlyArray<BlockTransaction> =>
  Array.from({ length: many }, (_, index) => transactionOf({ index, legs: [leg({ indexInBlock: index })] }))

it("gives back what was packed, every time it is read", () => {
  for (const many of [0, 1, 48, 49, 200]) {
    const packed = new PackedTransactions(packTransactions(some(many)))
    assert.deepStrictEqual(Array.from(packed), some(many))
    assert.deepStrictEqual(Array.from(packed), some(many))
  }
})

it.effect("lets others have their turn between the parts of a block, and not once it has ended", () =>
  Effect.gen(function* () {
    const order: Array<string> = []
    const visiting = yield* visitTransactions(some(97), ({ index }) => {
      if (index % 48 === 0) {
        order.push(`part ${index / 48}`)
      }
    }).pipe(Effect.forkChild({ startImmediately: true }))
    order.push("another")
    yield* Fiber.join(visiting)
    assert.deepStrictEqual(order, ["part 0", "another", "part 1", "part 2"])
  })
)
