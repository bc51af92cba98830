import { assert, describe, it } from "@effect/vitest"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { AccountsRead, settledPosition, unreadPosition, wholeEvents } from "../../src/wallets/wholeEvents.ts"
import { emptyPosition, eventsOf, positionsAfter } from "../../src/wallets/ledger.ts"
import { pnlOf } from "../../src/wallets/pnl.ts"
import { seededRandom } from "../market/tape/tape.ts"
import { MINT, MINT_2, START, tradeOf, usd } from "./trades.ts"

/** A wallet with three accounts of one mint, its transactions, and its whole balance after each slot. */
const life = (seed: number, slots: number) => {
  const roll = seededRandom(seed)
  const pick = (most: bigint) => BigInt(Math.floor(roll() * (Number(most) + 1)))
  const accounts = [pick(1000n), pick(1000n), pick(1000n)]
  const sum = () => accounts.reduce((all, each) => all + each, 0n)
  const totals = [sum()]
  const trades: Array<TapeTrade> = []
  for (let slot = 1; slot <= slots; slot++) {
    const at = Math.floor(roll() * 3)
    const other = (at + 1 + Math.floor(roll() * 2)) % 3
    const before = accounts[at] ?? 0n
    const kind = roll()
    if (kind < 0.3) {
      // Between the wallet's own accounts: both are named, and their sum stays.
      const amount = pick(before)
      accounts[at] = before - amount
      accounts[other] = (accounts[other] ?? 0n) + amount
    } else {
      const delta = roll() < 0.5 ? -pick(before) : 1n + pick(500n)
      const isBoth = roll() < 0.2
      const named = (isBoth ? accounts[other] : 0n) ?? 0n
      accounts[at] = before + delta
      if (delta !== 0n) {
        trades.push(
          tradeOf({
            role: kind < 0.5 ? "transfer" : "both",
            slot,
            signature: `sig_${slot}`,
            side: delta > 0n ? "buy" : "sell",
            amount: delta > 0n ? delta : -delta,
            volumeUsdNanos: kind < 0.5 ? null : usd(Number(pick(90n))),
            held: { before: before + named, after: before + named + delta }
          })
        )
      }
    }
    totals.push(sum())
  }
  return { trades, totals }
}

const readAt = (slot: number, units: bigint, atMs = START) =>
  new AccountsRead(
    [
      { slot, units: new Map([[MINT, units]]) },
      { slot, units: new Map() }
    ],
    { atMs, chainMs: atMs }
  )

describe("balances over all token accounts", () => {
  it("agree with the chain at every transaction, wherever the accounts were read", () => {
    let partial = 0
    for (let seed = 1; seed <= 60; seed++) {
      const { totals, trades } = life(seed, 40)
      const events = eventsOf(trades)
      for (const slot of [0, 1, 13, 40]) {
        const request = { read: readAt(slot, totals[slot] ?? 0n), fromMs: 0, isComplete: true }
        const whole = wholeEvents(events, request)
        assert.strictEqual(whole.unread.size, 0)
        for (const [at, event] of whole.events.entries()) {
          const balance = { before: totals[event.slot - 1] ?? 0n, after: totals[event.slot] ?? 0n }
          assert.deepStrictEqual(event.balance, balance, `${seed} ${slot}`)
          partial += JSON.stringify(balance, text) === JSON.stringify(events[at]?.balance, text) ? 0 : 1
        }
        const position = positionsAfter(whole.events).get(MINT)
        assert.strictEqual(position?.held ?? totals.at(-1), totals.at(-1))
      }
    }
    assert.isAbove(partial, 1000)
  })

  it("are unknown when a trade after the read begins at another balance: an earlier transfer may be missing", () => {
    const events = eventsOf([tradeOf({ slot: 5, amount: 10n, held: { before: 3n, after: 13n } })])
    const whole = (units: bigint, slot: number) =>
      wholeEvents(events, { read: readAt(slot, units), fromMs: 0, isComplete: false })
    assert.deepStrictEqual(Array.from(whole(7n, 4).unread), [MINT])
    assert.deepStrictEqual(whole(3n, 4).events[0]?.balance, { before: 3n, after: 13n })
    assert.deepStrictEqual(whole(17n, 5).events[0]?.balance, { before: 7n, after: 17n })
  })

  it("are unknown when they would be below zero, or when an event lies between the reads of the two programs", () => {
    const sold = eventsOf([tradeOf({ slot: 5, side: "sell", amount: 10n, held: { before: 10n, after: 0n } })])
    const below = wholeEvents(sold, { read: readAt(4, 9n), fromMs: 0, isComplete: true })
    assert.isTrue(below.unread.has(MINT))
    const apart = new AccountsRead(
      [
        { slot: 4, units: new Map() },
        { slot: 6, units: new Map([[MINT_2, 1n]]) }
      ],
      { atMs: START, chainMs: START }
    )
    const bought = eventsOf([tradeOf({ slot: 5, amount: 10n, held: { before: 0n, after: 10n } })])
    assert.isTrue(wholeEvents(bought, { read: apart, fromMs: 0, isComplete: true }).unread.has(MINT))
  })

  it("stay as they are before a gap, and the position ends with the units on the chain", () => {
    const events = eventsOf([tradeOf({ slot: 1, amount: 10n, held: { before: 0n, after: 10n } })])
    const { events: whole, units } = wholeEvents(events, {
      read: readAt(9, 25n),
      fromMs: START + 2000,
      isComplete: false
    })
    assert.deepStrictEqual(whole, events)
    const position = positionsAfter(whole).get(MINT) ?? emptyPosition(MINT)
    const settled = settledPosition(position, units.get(MINT) ?? 0n)
    assert.deepStrictEqual([settled.held, settled.lots.known, settled.lots.inherited], [25n, 10n, 15n])
    assert.strictEqual(settledPosition(position, 10n), position)
    assert.isNull(settledPosition(position, 4n).realizedNanos)
  })

  it("leave every figure that needs them unknown while they are not read", () => {
    const events = eventsOf([tradeOf({ slot: 1, amount: 10n, held: { before: 0n, after: 10n } })])
    const position = unreadPosition(positionsAfter(events).get(MINT) ?? emptyPosition(MINT))
    const { cost, known, open, realized, total, unrealized, value } = pnlOf(position, {
      numerator: 1n,
      denominator: 1n
    })
    assert.deepStrictEqual([realized, unrealized, total, value, open], [null, null, null, null, true])
    assert.deepStrictEqual([cost, known.cost], [usd(1), usd(1)])
  })
})

const text = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value)
