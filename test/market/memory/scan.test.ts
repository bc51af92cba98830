import { assert, it } from "@effect/vitest"
import type { Mint } from "../../../src/domain/Address.ts"
import { MarketState, wholeOf } from "../../../src/market/memory/MarketState.ts"
import { windowNames } from "../../../src/market/model/windows.ts"
import { makeTape, mintOf, MONDAY, trade } from "../tape/tape.ts"

it("a scan equals the windows of every token, and visits no token that did not trade in them", () => {
  const tape = new MarketState({ tokens: 20, bars: 10_000, trades: 500, traders: 1000 }, "here")
  tape.apply(makeTape({ seed: 3, trades: 800, tokens: 60, wallets: 9, paceSeconds: 20 }), MONDAY * 2000)
  for (const name of windowNames) {
    const visited = new Set<string>()
    tape.scan(name, (token, { firstPrice, lastPrice, startPrice, traders, trades, unpriced, volume }) => {
      const mint = tape.mintOfToken(token)
      visited.add(mint)
      assert.isAbove(trades, 0)
      const window = tape.window(mint, name)
      assert.deepInclude(window, { trades, traders, unpriced })
      assert.strictEqual(volume, Number(window?.volumeUsdNanos))
      assert.strictEqual(Number.isNaN(startPrice) ? null : startPrice, window?.startPrice)
      assert.strictEqual(Number.isNaN(firstPrice) ? null : firstPrice, window?.firstPrice)
      assert.strictEqual(Number.isNaN(lastPrice) ? null : lastPrice, window?.lastPrice)
    })
    assert.isAtLeast(visited.size, 2)
  }
})

it("a scan in steps visits every token once, and takes in the trades that come between two steps", () => {
  const TOKENS = 1500
  const tape = new MarketState({ tokens: TOKENS, bars: 10_000, trades: 500, traders: 10_000 }, "here")
  const given = Array.from({ length: TOKENS }, (_, n) => trade({ index: n, mint: mintOf(n + 1) }))
  tape.apply(given, MONDAY * 2000)
  const visited = new Map<Mint, number>()
  const steps = tape.scanInSteps("24h", (token, { trades }) => visited.set(tape.mintOfToken(token), trades))
  assert.isFalse(steps.next().done)
  assert.isBelow(visited.size, TOKENS)
  tape.apply([trade({ index: TOKENS, mint: mintOf(TOKENS) })], MONDAY * 2000)
  wholeOf(steps)
  assert.strictEqual(visited.size, TOKENS)
  assert.strictEqual(visited.get(mintOf(TOKENS)), 2)
})
