/** Lots by the service, compared with lots by code that shares nothing with it, over random histories. */
import { assert, describe, it } from "@effect/vitest"
import { type BookedEvent, booksOf } from "../../scripts/recompute/book.ts"
import { LOT_METHODS, lotBooksOf } from "../../scripts/recompute/lots.ts"
import type { EventOfMint } from "../../src/wallets/ledger.ts"
import { lotBook } from "../../src/wallets/lotSales.ts"
import { MINT, tradeOf, WALLET } from "../wallets/trades.ts"

const random = (seed: number) => {
  let state = seed
  return (most: number): bigint => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return BigInt(Math.floor((state / 2 ** 32) * most))
  }
}

/** A history with purchases and sales of known and unknown price, fees, transfers, and units that come and go unseen. */
const historyOf = (seed: number, length: number) => {
  const pick = random(seed)
  const events: Array<EventOfMint> = []
  const booked: Array<BookedEvent> = []
  let held = pick(50)
  for (let slot = 1; slot <= length; slot++) {
    // Now and then a transaction was not seen.
    const before = pick(12) === 0n ? pick(200) : held
    const trades: Array<ReturnType<typeof tradeOf>> = []
    let after = before + (pick(6) === 0n ? pick(40) : 0n)
    for (let index = 0; index < Number(pick(3)) + (slot === 1 ? 1 : 0); index++) {
      const isBuy = slot === 1 || after === 0n || pick(2) === 0n
      const amount = isBuy ? 1n + pick(100) : 1n + pick(Number(after))
      after += isBuy ? amount : -amount
      const volumeUsdNanos = pick(8) === 0n ? null : pick(1_000_000)
      trades.push(
        tradeOf({ slot, index, side: isBuy ? "buy" : "sell", amount, volumeUsdNanos, feeUsdNanos: pick(1000) })
      )
    }
    after -= pick(6) === 0n ? pick(Number(after) + 1) : 0n
    events.push({
      mint: MINT,
      signature: `sig_${slot}`,
      slot,
      index: 0,
      timeMs: slot * 1000,
      decimals: 6,
      trades,
      balance: { before, after }
    })
    booked.push({
      transaction: slot,
      wallet: WALLET,
      mint: MINT,
      before,
      after,
      trades: trades.map(({ amount, feeUsdNanos, side, volumeUsdNanos }) => ({
        isBuy: side === "buy",
        amount,
        nanos: volumeUsdNanos,
        fee: feeUsdNanos ?? 0n
      }))
    })
    held = after
  }
  return { events, booked }
}

describe("lots that are found twice", () => {
  it("are the same by FIFO, LIFO and HIFO, lot by lot", () => {
    let sales = 0
    for (let seed = 1; seed <= 60; seed++) {
      const { booked, events } = historyOf(seed, 40)
      const book = booksOf(booked).get(WALLET) ?? new Map()
      for (const method of LOT_METHODS) {
        const service = lotBook(events, method)
        const own = lotBooksOf(booked, method, book).get(MINT)
        const name = `${method} of history ${seed}`
        assert.deepStrictEqual(
          service.sold.map(({ costNanos, proceedsNanos, units }) => ({
            units,
            cost: costNanos,
            proceeds: proceedsNanos
          })),
          own?.sold,
          name
        )
        assert.sameDeepMembers(
          service.open.map(({ costNanos, units }) => ({ units, cost: costNanos })),
          own?.open.map(({ cost, units }) => ({ units, cost })) ?? [],
          name
        )
        sales += service.sold.length
      }
    }
    assert.isAbove(sales, 3000)
  })
})
