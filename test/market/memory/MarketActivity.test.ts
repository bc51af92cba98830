import { assert, it } from "@effect/vitest"
import { MarketState } from "../../../src/market/memory/MarketState.ts"
import { comparedFrom } from "../../../src/market/memory/MarketActivity.ts"
import { windowIndex } from "../../../src/market/model/windows.ts"
import { MONDAY, trade } from "../tape/tape.ts"

const HOUR = windowIndex["1h"]

it("a market that trades at an even pace shows no change, at any second of a step", () => {
  const tape = new MarketState({ tokens: 10, bars: 10_000, trades: 10, traders: 10 }, "here")
  const trades = Array.from({ length: 9000 }, (_, second) =>
    trade({ slot: second, timeMs: (MONDAY + second) * 1000, role: "pool" })
  )
  tape.apply(trades.slice(0, 7300), MONDAY * 2000)
  for (const [second, each] of trades.slice(7300, 7330).entries()) {
    tape.apply([each], MONDAY * 2000)
    const { after, before, now } = tape.markets.all.activity.read(HOUR)
    assert.deepStrictEqual([after.buys, before.buys], [3600, 3600])
    assert.strictEqual(now.buys, 3588 + ((7300 + second) % 12) + 1)
    assert.strictEqual(comparedFrom(HOUR, tape.now) % 12, 0)
  }
})
