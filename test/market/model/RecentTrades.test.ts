import { assert, it } from "@effect/vitest"
import { RecentTrades } from "../../../src/market/model/RecentTrades.ts"
import { mintOf, trade } from "../tape/tape.ts"

const request = {
  mint: mintOf(1),
  side: null,
  wallet: null,
  pool: null,
  minUsdNanos: null,
  fromMs: null,
  toMs: null,
  before: null,
  limit: 10
}

const blockOf = (slot: number, trades: number) => ({
  slot,
  trades: Array.from({ length: trades }, (_, index) => trade({ slot, index }))
})

it("recent trades begin with the oldest block that is held completely", () => {
  const recent = new RecentTrades(5)
  assert.strictEqual(recent.fromSlot, Number.POSITIVE_INFINITY)
  recent.add(blockOf(10, 0))
  recent.add(blockOf(11, 2))
  recent.add(blockOf(12, 3))
  assert.deepStrictEqual([recent.fromSlot, recent.hasDropped], [10, false])
  recent.add(blockOf(13, 1))
  assert.deepStrictEqual([recent.fromSlot, recent.hasDropped], [12, true])
  const places = recent.find(request).map(({ index, slot }) => `${slot}.${index}`)
  assert.deepStrictEqual(places, ["13.0", "12.2", "12.1", "12.0"])
  // A late block does not move the beginning back.
  recent.add(blockOf(9, 1))
  assert.strictEqual(recent.fromSlot, 12)
})
