import { assert, describe, it } from "@effect/vitest"
import { Layer } from "effect"
import { attributionOf } from "../../src/callouts/attribution.ts"
import { linksOf } from "../../src/callouts/attributionFeed.ts"
import * as CalloutStorePg from "../../src/callouts/CalloutStorePg.ts"
import { calloutLinksOf } from "../../src/simulator/seed/callouts.ts"
import { calloutsOf } from "../../src/simulator/seed/callouts.ts"
import { coins } from "../../src/simulator/pools/catalog.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { attributionContract, linkOf, traded } from "./attributionContract.ts"
import { addressOf, START } from "./callouts.ts"
import * as MemoryCallouts from "../support/memoryCallouts.ts"

const terms = { creatorBps: 10, nanosPerPoint: 10_000_000_000n }
const link = linkOf("co_a")

describe("a trade", () => {
  it("counts for the callout that its wallet came through", () => {
    assert.deepStrictEqual(attributionOf(traded(1, { index: 7 }), [link], terms), {
      tradeId: "signature 1:7",
      calloutId: "co_a",
      trader: addressOf(50),
      volumeUsdNanos: 12_000_000_000n,
      earnedUsdNanos: 12_000_000n,
      points: 1n
    })
  })

  it("counts from the visit until the callout expires", () => {
    const counted = [START - 1, START, START + 999, START + 1000].map(
      (timeMs) => attributionOf(traded(1, { timeMs }), [link], terms) !== null
    )
    assert.deepStrictEqual(counted, [false, true, true, false])
  })

  it("counts for nothing from other wallets, of other mints, at an unknown price, or as part of a route", () => {
    const others = [
      { wallet: addressOf(51) },
      { mint: addressOf(2) },
      { volumeUsdNanos: null },
      { role: "pool" as const }
    ]
    for (const other of others) {
      assert.isNull(attributionOf(traded(1, other), [link], terms))
    }
    assert.isNotNull(attributionOf(traded(1, { role: "wallet" }), [link], terms))
  })

  it("never counts for a callout of its own wallet's owner", () => {
    assert.isNull(attributionOf(traded(1), [linkOf("co_a", { visitorId: "u_1" })], terms))
  })

  it("counts for the last visit before it, and for the smaller id when two visits coincide", () => {
    const later = linkOf("co_c", { fromMs: START + 10 })
    const links = [linkOf("co_b"), later, link]
    assert.strictEqual(attributionOf(traded(1), links, terms)?.calloutId, "co_a")
    assert.strictEqual(attributionOf(traded(1, { timeMs: START + 10 }), links, terms)?.calloutId, "co_c")
  })

  it("brings rounded-down amounts", () => {
    const small = attributionOf(traded(1, { volumeUsdNanos: 9_999_999_999n }), [link], terms)
    assert.deepInclude(small, { earnedUsdNanos: 9_999_999n, points: 0n })
  })
})

it("invents links for earlier visitors, from now until the callout expires", () => {
  const mints = coins.map(({ decimals, name, symbol }, i) => ({ symbol, name, decimals, address: addressOf(i + 1) }))
  const wallets = [1, 2, 3].map((n) => ({ label: `wallet ${n}`, address: addressOf(1000 + n) }))
  const callouts = calloutsOf({ nowMs: START, mints, wallets })
  const links = calloutLinksOf(callouts, START)
  assert.isAbove(links.length, 5)
  for (const { calloutId, fromMs, mint, untilMs, wallet } of links) {
    const told = callouts.find(({ callout }) => callout.id === calloutId)
    assert.strictEqual(mint, told?.callout.mint)
    assert.isTrue(told?.trades.some(({ trader }) => trader === wallet))
    assert.deepStrictEqual([fromMs, untilMs], [START, told?.callout.expiresAtMs])
  }
  const known = linksOf(links)
  assert.strictEqual(
    wallets.reduce((sum, { address }) => sum + known(address).length, 0),
    links.length
  )
  assert.deepStrictEqual(known(addressOf(9)), [])
})

attributionContract("callouts in memory", MemoryCallouts.layer)

describe.runIf(TestDatabase.isAvailable)("in a database", () => {
  attributionContract("CalloutStorePg.layer", CalloutStorePg.layer.pipe(Layer.provide(TestDatabase.layer)))
})
