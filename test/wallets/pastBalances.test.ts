import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Mint } from "../../src/domain/Address.ts"
import type { PriceAt } from "../../src/api/schemas/PriceAt.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { MarketReader } from "../../src/market/reads/MarketReader.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { known, unavailable } from "../../src/domain/Scalar.ts"
import { MomentNotRecorded, type PastMoment, type RecordEnds, unitsOfPast } from "../../src/wallets/pastBalances.ts"
import { call, keyOf, noMarket, running } from "../support/http.ts"
import { seededRandom } from "../market/tape/tape.ts"
import { readerOver } from "./readers.ts"
import { blockOf, MINT, MINT_2, OTHER, START, tradeOf, WALLET, walletOf } from "./trades.ts"

/** A change of one token account of the wallet, as a block has it. */
interface Change {
  readonly slot: number
  readonly place: number
  readonly mint: Mint
  readonly delta: bigint
  readonly isTransfer: boolean
}

const SLOTS = 200
const SECOND = START / 1000
const MINTS: ReadonlyArray<Mint> = [MINT, MINT_2, walletOf(1), walletOf(2)]
/** What the wallet had of each mint before the first block. */
const OPENING: ReadonlyMap<Mint, bigint> = new Map([
  [MINT, 500n],
  [MINT_2, 0n],
  [walletOf(1), 2n ** 64n - 10_000_000n]
])

const timeOf = (slot: number): number => START + slot * 400

const makeChanges = (): ReadonlyArray<Change> => {
  const roll = seededRandom(33)
  const left = new Map(OPENING)
  const changes: Array<Change> = []
  for (let slot = 1; slot <= SLOTS; slot++) {
    for (let place = 0; place < Math.floor(roll() * 3); place++) {
      const mint = MINTS[Math.floor(roll() * (slot < 100 ? 3 : 4))] ?? MINT
      const had = left.get(mint) ?? 0n
      const delta = roll() < 0.6 || had === 0n ? BigInt(1 + Math.floor(roll() * 1000)) : -(roll() < 0.3 ? had : 1n)
      changes.push({ slot, place, mint, delta, isTransfer: left.has(mint) && roll() < 0.4 })
      left.set(mint, had + delta)
    }
  }
  return changes
}

const changes = makeChanges()

/** The sum of the changes: it knows nothing of balances before and after. */
const heldAfter = (isBefore: (change: Change) => boolean): Record<string, string> =>
  Object.fromEntries(
    MINTS.map((mint): [string, bigint] => [
      mint,
      changes
        .filter((change) => change.mint === mint && isBefore(change))
        .reduce((sum, { delta }) => sum + delta, OPENING.get(mint) ?? 0n)
    ])
      .filter(([, amount]) => amount > 0n)
      .map(([mint, amount]) => [mint, String(amount)])
  )

/** The rows of the record, newest first: each with the units around its transaction. */
const rows = (() => {
  const left = new Map(OPENING)
  return changes
    .map(({ delta, isTransfer, mint, place, slot }) => {
      const before = left.get(mint) ?? 0n
      left.set(mint, before + delta)
      return tradeOf({
        role: isTransfer ? "transfer" : "both",
        slot,
        index: place,
        mint,
        side: delta > 0n ? "buy" : "sell",
        amount: delta > 0n ? delta : -delta,
        volumeUsdNanos: null,
        held: { before, after: before + delta }
      })
    })
    .toReversed()
})()

const blocks = Effect.gen(function* () {
  const tape = yield* Tape
  for (let slot = 1; slot <= SLOTS + 1; slot++) {
    yield* tape.apply(blockOf([], { slot, timeMs: timeOf(slot) }))
  }
})
const tape = Layer.effectDiscard(blocks).pipe(Layer.provideMerge(Market.layerManual()))

const asked: Array<{ readonly mint: Mint; readonly at: number }> = []
const priceOf = (mint: Mint, at: number): PriceAt => ({
  mint,
  at,
  priceUsd:
    mint === MINT
      ? known("usd", "0.25", { observedAtMs: START, expiresAtMs: null })
      : unavailable("usd", "mark_unknown"),
  priceSol: unavailable("sol", "mark_unknown"),
  method: "last_trade",
  barMs: mint === MINT ? at * 1000 : null,
  resolutionMs: null,
  ageMs: null
})

const market = Layer.merge(
  noMarket,
  Layer.effect(
    MarketReader,
    Effect.map(MarketReader, (reader) => ({
      ...reader,
      pricesAt: (points: ReadonlyArray<{ readonly mint: Mint; readonly at: number }>) => {
        asked.push(...points)
        return Effect.succeed({
          data: points.map(({ at, mint }) => priceOf(mint, at)),
          slot: 1,
          observedAtMs: START,
          status: "partial" as const,
          coverage: { complete: false, reason: "mark_unknown" as const }
        })
      }
    }))
  ).pipe(Layer.provide(noMarket))
)

const keys = [keyOf("a"), keyOf("b"), keyOf("c"), keyOf("d")]
const trades = { [WALLET]: rows }
const balances = (query: string, { key = "a", wallet = WALLET } = {}) =>
  call(`/api/v1/wallets/${wallet}/balances?${query}`, { method: "GET", key })

const amounts = (tokens: unknown) =>
  Object.fromEntries([tokens].flat().map((row) => [Object(row).mint, Object(row).amount]))

layer(running({ keys, wallets: readerOver({ trades, tape }), market }))("balances of the past", (it) => {
  it.effect("are the sums of all changes up to the end of a slot, or of a second", () =>
    Effect.gen(function* () {
      for (const slot of [1, 2, 57, 99, 100, 101, 163]) {
        const answer = yield* balances(`atSlot=${slot}`)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepStrictEqual(
          amounts(answer.json("data.tokens")),
          heldAfter((change) => change.slot <= slot),
          `${slot}`
        )
        assert.deepInclude(answer.json("meta"), { slot, slots: null })
      }
      for (const second of [SECOND + 1, SECOND + 30, SECOND + 79]) {
        const answer = yield* balances(`at=${second}`, { key: "b" })
        assert.strictEqual(answer.status, 200, answer.text)
        const end = (second + 1) * 1000
        assert.deepStrictEqual(
          amounts(answer.json("data.tokens")),
          heldAfter(({ slot }) => timeOf(slot) < end)
        )
        assert.strictEqual(answer.json("meta.past.at"), second)
      }
    })
  )

  it.effect("have no SOL and no dollars, are never complete, and have a value only where the price was known", () =>
    Effect.gen(function* () {
      asked.length = 0
      const answer = yield* balances(`at=${SECOND + 50}`, { key: "c" })
      assert.deepStrictEqual([answer.json("data.sol"), answer.json("data.solReason")], [null, "not_captured"])
      const units = heldAfter(({ slot }) => timeOf(slot) < (SECOND + 51) * 1000)
      assert.deepStrictEqual(
        asked.map(({ at, mint }) => `${mint} ${at}`).toSorted(),
        Object.keys(units)
          .map((mint) => `${mint} ${SECOND + 50}`)
          .toSorted()
      )
      const first = Object(answer.json("data.tokens.0"))
      assert.deepStrictEqual(
        [first.mint, first.markUsd, BigInt(Math.round(Number(first.valueUsd) * 1e8))],
        [MINT, "0.25", BigInt(units[MINT] ?? 0) * 25n]
      )
      const second = Object(answer.json("data.tokens.1"))
      assert.deepStrictEqual([second.markUsd, second.valueUsd], [null, null])
      const sums = Object(answer.json("data.sums"))
      assert.deepStrictEqual([sums.valueUsd, sums.solUsd, sums.dollarsUsd], [null, null, null])
      assert.strictEqual(sums.knownValueUsd, first.valueUsd)
      assert.deepInclude(answer.json("meta"), {
        status: "partial",
        coverage: { complete: false, reason: "observed_swaps_only" }
      })
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "5")
    })
  )

  it.effect("say nothing of a wallet without rows, and refuse moments outside the record", () =>
    Effect.gen(function* () {
      const unseen = yield* balances(`at=${SECOND + 20}`, { key: "d", wallet: OTHER })
      assert.deepStrictEqual([unseen.status, unseen.json("data.tokens")], [200, []], unseen.text)
      assert.deepInclude(unseen.json("meta"), {
        status: "unavailable",
        coverage: { complete: false, reason: "not_captured" }
      })
      for (const [query, field, ends] of [
        [`at=${SECOND - 100}`, "at", `${SECOND} to ${SECOND + 79}`],
        [`at=${SECOND + 80}`, "at", `${SECOND} to ${SECOND + 79}`],
        [`atSlot=${SLOTS + 2}`, "atSlot", `1 to ${SLOTS + 1}`]
      ] as const) {
        const refused = yield* balances(query, { key: "d" })
        assert.strictEqual(refused.status, 400, refused.text)
        assert.deepInclude([refused.json("error.details")].flat()[0], { in: "query", field, issue: "out_of_range" })
        assert.include(String(refused.json("error.message")), ends)
      }
      const both = yield* balances(`at=${SECOND + 20}&atSlot=7`, { key: "d" })
      assert.strictEqual(both.status, 400)
      assert.deepInclude([both.json("error.details")].flat()[0], { in: "query", field: "at", issue: "conflict" })
    })
  )
})

const ends: RecordEnds = { since: SECOND, fromSlot: 1, toSlot: 100, toSecond: SECOND + 40, gaps: [] }
const at = (slot: number): PastMoment => ({ field: "atSlot", value: slot })

const found = (own: ReadonlyArray<TapeTrade>, moment: PastMoment, given: Partial<RecordEnds> = {}) => {
  const history = {
    trades: own.toReversed(),
    truncated: false,
    coveredFromMs: START,
    coveredUntilMs: START + 40_000,
    liveSinceMs: START,
    undated: 0
  }
  const past = unitsOfPast({ history, backfill: null }, moment, { ...ends, ...given })
  return past instanceof MomentNotRecorded ? past : (past.tokens[0]?.units ?? null)
}

const change = (slot: number, before: bigint, after: bigint, index = 0) =>
  tradeOf({ slot, index, held: { before, after } })

describe("units at a moment", () => {
  const agreeing = [change(10, 0n, 5n), change(20, 5n, 7n)]

  it("are what the last change left, or what the first one found", () => {
    assert.deepStrictEqual(found(agreeing, at(10)), { amount: 5n, basis: "last_change" })
    assert.deepStrictEqual(found(agreeing, at(25)), { amount: 7n, basis: "last_change" })
    assert.deepStrictEqual(found([change(10, 3n, 5n)], at(9)), { amount: 3n, basis: "next_change" })
  })

  it("are unknown between two changes that do not agree, and where a change has no balance", () => {
    assert.isNull(found([change(10, 0n, 5n), change(20, 6n, 7n)], at(15)))
    assert.isNull(found([tradeOf({ slot: 10 })], at(15)))
    assert.deepStrictEqual(found([tradeOf({ slot: 10 }), change(20, 6n, 7n)], at(15)), {
      amount: 6n,
      basis: "next_change"
    })
  })

  it("are unknown when the transactions of the slot do not follow one another", () => {
    assert.deepStrictEqual(found([change(10, 0n, 5n), { ...change(10, 5n, 9n, 1), signature: "b" }], at(12)), {
      amount: 9n,
      basis: "last_change"
    })
    assert.isNull(found([change(10, 4n, 5n), { ...change(10, 0n, 4n, 1), signature: "b" }], at(12)))
  })

  it("are not read across missing blocks", () => {
    const gap = { fromSlot: 12, toSlot: 14, fromSecond: SECOND + 4, toSecond: SECOND + 5 }
    assert.deepStrictEqual(found(agreeing, at(11), { gaps: [gap] }), { amount: 5n, basis: "last_change" })
    assert.isNull(found(agreeing, at(13), { gaps: [gap] }))
    assert.deepStrictEqual(found(agreeing, at(16), { gaps: [gap] }), { amount: 5n, basis: "next_change" })
    assert.isNull(found([change(10, 0n, 5n)], at(16), { gaps: [gap] }))
  })

  it("do not exist before the first block", () => {
    const nothing = { since: Infinity, fromSlot: Infinity, toSlot: 0, toSecond: -1 }
    const past = unitsOfPast({ history: null, backfill: null }, at(5), { ...ends, ...nothing })
    assert.deepInclude(past, { first: null, last: null })
  })
})
