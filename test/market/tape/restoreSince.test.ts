import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { restoreSince } from "../../../src/market/tape/restoreTape.ts"
import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import { MONDAY, trade } from "./tape.ts"
import { type MarketStores } from "../../../src/market/model/MarketStores.ts"

const blockAt = (slot: number): StoredBatch => ({
  slot,
  timeMs: (MONDAY + slot) * 1000,
  trades: [trade({ slot, timeMs: (MONDAY + slot) * 1000 })],
  launches: [],
  afterGap: false
})

describe("restoreSince", () => {
  it.effect("leaves out no block, even when blocks are stored between a failure and the next attempt", () =>
    Effect.gen(function* () {
      const stored = Array.from({ length: 90 }, (_, n) => blockAt(n + 1))
      const asked: Array<number> = []
      const since: MarketStores["blocks"]["since"] = ({ after, most }) =>
        Stream.suspend(() => {
          asked.push(after)
          const found = stored.filter(({ slot }) => slot > after).slice(most === Number.POSITIVE_INFINITY ? 0 : -most)
          if (asked.length > 1) {
            return Stream.fromIterable(found)
          }
          const cause = new Error("the connection is lost")
          stored.push(blockAt(91), blockAt(92), blockAt(93))
          return Stream.concat(
            Stream.fromIterable(found.filter(({ slot }) => slot <= 85)),
            Stream.fail(new TradeStoreUnavailable({ cause }))
          )
        })
      const taken: Array<number> = []
      const restored = yield* Effect.forkChild(
        restoreSince({ since }, { second: 0, after: 0 }, 10, ({ slot }) => {
          taken.push(slot)
          return true
        })
      )
      yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => taken.at(-1) === 93, times: 100 })
      const { first, trades } = yield* Fiber.join(restored)
      assert.deepStrictEqual(
        taken,
        Array.from({ length: 13 }, (_, n) => 81 + n)
      )
      assert.deepStrictEqual(asked, [0, 85])
      assert.deepStrictEqual([trades, first], [13, MONDAY + 81])
    })
  )
})
