/**
 * The change of October 2026 replayed against decoders of September: pump.fun's instructions of version 3, and purchases
 * that go on beyond the end of a curve.
 */
import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach, vi } from "vitest"
import { tagAt, tagOf } from "../../../src/programs/layout/anchor.ts"
import { curvePostCompleteEvent, pumpCurveSwaps } from "../../../src/programs/pump/curveInstructions.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { poolSwapsOf } from "../../../src/chain/decoding/poolSwaps.ts"
import { sumChecks, type SwapCheck } from "../../../src/chain/decoding/swapChecks.ts"
import { DecodingWatch } from "../../../src/market/memory/DecodingWatch.ts"
import {
  bought,
  COMPLETE_EVENT,
  CURVE,
  POST_COMPLETE_EVENT,
  postCompleteEvent,
  sold,
  tokenHoldings,
  TRADE_EVENT,
  tradeEvent,
  zeros
} from "./pumpEvents.ts"
import {
  accountsAt,
  bytesOf,
  type Call,
  event,
  little,
  named,
  POOL,
  TOKEN,
  TRADER,
  transactionOf,
  transfer
} from "./transactions.ts"

const BUY_V3 = "07051dc4f5176550"
const SELL_V3 = "1c92de7726c469d5"
const version3 = new Set([tagOf(BUY_V3), tagOf(SELL_V3)])

/** What the decoder of September ignores. */
const september = { ignoresVersion3: false, ignoresPostComplete: false }
const { hops, selfCall } = pumpCurveSwaps

beforeEach(() => {
  Object.assign(september, { ignoresVersion3: false, ignoresPostComplete: false })
  vi.spyOn(pumpCurveSwaps, "hops").mockImplementation((data, accounts) =>
    september.ignoresVersion3 && version3.has(tagAt(data, 0)) ? [] : hops(data, accounts)
  )
  vi.spyOn(pumpCurveSwaps, "selfCall").mockImplementation((tag, body) =>
    september.ignoresPostComplete && tag === curvePostCompleteEvent.tag ? null : (selfCall?.(tag, body) ?? null)
  )
})
afterEach(() => vi.restoreAllMocks())

const legacy = accountsAt(12, { 1: named("fee recipient"), 2: TOKEN, 3: POOL, 4: named("curve token"), 6: TRADER })
const third = accountsAt(17, {
  1: TOKEN,
  2: SOL,
  5: POOL,
  6: named("curve token"),
  7: named("curve quote"),
  8: TRADER
})

const trade = (tag: string, isBuy: boolean): Call => ({
  program: CURVE,
  accounts: tag === BUY_V3 || tag === SELL_V3 ? third : legacy,
  data: bytesOf(tag, little(50n, 8), little(2000n, 8)),
  calls: [
    isBuy ? bought : sold,
    event(CURVE, TRADE_EVENT, tradeEvent({ sol: 1000n, tokens: 50n, isBuy, fees: [9n, 3n] }))
  ]
})
const completing: Call = {
  program: CURVE,
  accounts: third,
  data: bytesOf(BUY_V3, little(80n, 8), little(2000n, 8)),
  calls: [
    transfer(named("curve token"), named("trader token"), POOL, 80n),
    event(CURVE, TRADE_EVENT, tradeEvent({ sol: 1000n, tokens: 50n, isBuy: true, fees: [9n, 3n] })),
    event(CURVE, COMPLETE_EVENT, zeros(136)),
    event(CURVE, POST_COMPLETE_EVENT, postCompleteEvent(30n, 700n, [6n, 2n]))
  ]
}

const checksOf = (call: Call, tokens: bigint): ReadonlyArray<SwapCheck> =>
  poolSwapsOf(transactionOf({ signers: [TRADER], calls: [call], holdings: tokenHoldings(tokens) })).checks

const before = () => [
  ...checksOf(trade("66063d1201daebea", true), 50n),
  ...checksOf(trade("33e685a4017f83ad", false), -50n)
]

const MINUTE = 60_000
const CHANGE = Date.UTC(2026, 9, 8, 16, 20)
/** Swaps of a minute: as much as a quiet minute of the curve program. */
const A_MINUTE = 100

/** Half an hour of traffic, then the change. Returns the first minute after the change with a drift, and its words. */
const replay = (share: number, changed: () => ReadonlyArray<SwapCheck>) => {
  const watch = new DecodingWatch(() => true)
  const [old, next] = [before(), changed()]
  for (let minute = -30; minute < 20; minute++) {
    for (let second = 0; second < 60; second += 10) {
      const news = minute < 0 ? 0 : Math.round((A_MINUTE * share) / 6)
      const blocks = [
        ...Array.from({ length: A_MINUTE / 2 / 6 }, () => old).flat(),
        ...Array.from({ length: news }, () => next).flat()
      ]
      watch.add(CHANGE + minute * MINUTE + second * 1000, sumChecks(blocks))
      const drift = watch.read()[0]?.drift ?? null
      if (drift !== null) {
        return { minute, drift }
      }
    }
  }
  return null
}

describe("a decoder of September 2026", () => {
  it("that does not know the instructions of version 3 is noticed within ten minutes", () => {
    september.ignoresVersion3 = true
    const found = replay(0.3, () => [...checksOf(trade(BUY_V3, true), 50n), ...checksOf(trade(SELL_V3, false), -50n)])
    assert.isNotNull(found)
    assert.isBelow(found?.minute ?? Infinity, 10)
    assert.isAtLeast(found?.minute ?? -1, 0)
    assert.strictEqual(found?.drift.sinceMs, CHANGE)
    assert.match(
      found?.drift.detail ?? "",
      /^The confirmed share of pump-fun-curve fell from 100 % to \d+(?:\.\d)? % since 16:20\.$/u
    )
  })

  it("that does not know the second part of a completing purchase is noticed within ten minutes", () => {
    september.ignoresPostComplete = true
    // Six swaps in a hundred complete a curve.
    const found = replay(0.06, () => checksOf(completing, 80n))
    assert.isNotNull(found)
    assert.isBelow(found?.minute ?? Infinity, 10)
    assert.strictEqual(found?.drift.sinceMs, CHANGE)
  })

  it("names the unknown instruction", () => {
    september.ignoresVersion3 = true
    assert.deepStrictEqual(sumChecks(checksOf(trade(BUY_V3, true), 50n)), [
      { dex: "pump-fun-curve", counts: { unknown: 1 }, tags: { [BUY_V3]: 1 } }
    ])
    assert.deepStrictEqual(sumChecks(checksOf(completing, 80n)), [
      { dex: "pump-fun-curve", counts: { unknown: 1 }, tags: { [BUY_V3]: 1 } }
    ])
  })
})

describe("the decoder of today", () => {
  it("is not noticed by the same traffic", () => {
    assert.isNull(
      replay(0.3, () => [
        ...checksOf(trade(BUY_V3, true), 50n),
        ...checksOf(trade(SELL_V3, false), -50n),
        ...checksOf(completing, 80n)
      ])
    )
  })
})
