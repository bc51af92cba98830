import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { BlockTransaction } from "../../../src/chain/decoding/TradeBlock.ts"
import type { BalanceChange } from "../../../src/api/schemas/Trade.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { PackedTransactions, packTransactions, visitInParts } from "../../../src/chain/decoding/PackedTransactions.ts"
import { leg, netOf, transactionOf } from "../../market/tape/decoded.ts"
import { mintOf, walletOf } from "../../market/tape/tape.ts"
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

it("returns what was packed, every time it is read", () => {
  for (const many of [0, 1, 24, 25, 200]) {
    const packed = new PackedTransactions(packTransactions(some(many)))
    assert.deepStrictEqual(plain(packed), some(many))
    assert.deepStrictEqual(plain(packed), some(many))
  }
})

/** Every field with a value of its own, or with null where it may be null. */
const full = (): BlockTransaction => {
  const bought = leg({ blockTime: 1_700_000_000, outer: 3, inner: 2, confirmed: true, feeLamports: 2n ** 63n })
  const sold = leg({
    side: "sell",
    index: 1,
    transferFees: { token: 3n, quote: 2n ** 64n },
    confirmed: false,
    dex: "é"
  })
  const other = leg({ index: 2, indexInBlock: null, token: { mint: mintOf(2), amount: 5n, decimals: null } })
  const net = netOf(bought, [0, 1])
  const paid = { kind: "tip", recipient: walletOf(4), included: true, outer: 1, inner: 0 } as const
  return transactionOf({
    index: 7,
    legs: [bought, sold, other],
    nets: [
      { ...net, pool: null, dex: null, priorityLamports: null },
      {
        ...net,
        index: 1,
        held: { token: { before: 0n, after: 9n }, quote: null },
        fees: [{ mint: SOL, amount: 1n, decimals: 9, ...paid }],
        priorityLamports: 0n
      }
    ],
    moves: [{ ...changed(4n), delta: -4n, native: false, cause: "burn", decimals: null }],
    changes: [changed(2n ** 64n)],
    transfers: [
      {
        signature: bought.signature,
        slot: 2,
        blockTime: null,
        indexInBlock: 7,
        outer: 0,
        inner: null,
        feeLamports: 5000n,
        from: walletOf(1),
        to: walletOf(2),
        mint: mintOf(3),
        amount: 8n,
        decimals: 6,
        native: false
      }
    ],
    unresolved: 3
  })
}

it("keeps every field, and every null", () => {
  const [read] = plain(new PackedTransactions(packTransactions([full()])))
  assert.deepStrictEqual(read, full())
})

it.effect("yields between the parts of a block, but not after its end", () =>
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
