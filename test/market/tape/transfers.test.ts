/** Transfers of wallets whose trades are read after the transfers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Market } from "../../../src/market/tape/Market.ts"
import { FIRST, process, RECEIVED_AT, RECEIVER, slots, timeOf, TRADED_AT } from "./chain.ts"
import { type MarketStores } from "../../../src/market/model/MarketStores.ts"
import { memory } from "../../support/marketStores.ts"

/** The transfer comes after the trade. */
const EXPECTED = [
  [RECEIVED_AT, "transfer", 3n],
  [TRADED_AT, "both", 9n]
]

const ofReceiver = (store: MarketStores) =>
  Effect.map(store.trades.ofWallet(RECEIVER, 10), (trades) =>
    trades.map(({ amount, role, slot }) => [slot, role, amount])
  )

/** Waits until nothing is missing and memory has what was read. */
const repaired = (tape: Market["Service"]) =>
  Effect.repeat(TestClock.adjust("2 seconds"), {
    until: () => tape.gaps().length === 0 && tape.readFrom(timeOf(FIRST) / 1000 + 1).complete,
    times: 600
  })

describe("transfers of a wallet", () => {
  it.effect("are stored when the wallet's earlier trades were missing", () =>
    Effect.gen(function* () {
      const found = Effect.fnUntraced(function* (...parts: ReadonlyArray<ReadonlyArray<number>>) {
        yield* TestClock.setTime(timeOf(FIRST))
        const store = yield* memory
        const node = { fails: true }
        const { end, read, tape } = yield* process(store, () => (node.fails ? "unreadable" : null))
        yield* Effect.forEach(parts, read, { discard: true })
        node.fails = false
        yield* repaired(tape)
        yield* end
        return yield* ofReceiver(store)
      })
      assert.deepStrictEqual(yield* found(slots(FIRST, FIRST + 60)), EXPECTED)
      const missed = [slots(FIRST, TRADED_AT - 3), slots(TRADED_AT + 3, FIRST + 60)]
      assert.deepStrictEqual(yield* found(...missed), EXPECTED)
    })
  )

  it.effect("are stored even when the wallet's earlier trades are read later", () =>
    Effect.gen(function* () {
      // The transfer comes in a new block first, then in a block that is read backwards.
      for (const first of [TRADED_AT + 3, RECEIVED_AT + 3]) {
        yield* TestClock.setTime(timeOf(FIRST))
        const store = yield* memory
        const { end, read, tape } = yield* process(store, (slot) => (slot < FIRST ? "cleaned_up" : null), {
          HISTORY: "2 hours",
          REPAIR_RATE: "1"
        })
        yield* read(slots(first, FIRST + 60))
        yield* repaired(tape)
        yield* end
        assert.deepStrictEqual(yield* ofReceiver(store), EXPECTED)
      }
    })
  )
})
