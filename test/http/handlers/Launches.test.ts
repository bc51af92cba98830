import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch, Layer, Schema } from "effect"
import {
  buyersPrice,
  FirstBuyersAnswer,
  FirstBuyersListAnswer,
  LaunchAnswer,
  LaunchesAnswer,
  WalletLaunchesAnswer
} from "../../../src/api/Launches.ts"
import type { Address } from "../../../src/domain/Address.ts"
import type { Launch } from "../../../src/api/schemas/Launch.ts"
import { COMPLETE, unavailable } from "../../../src/domain/Scalar.ts"
import { MarketReader } from "../../../src/market/reads/MarketReader.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { HolderReader, unknownFigures } from "../../../src/tokens/HolderReader.ts"
import { assertInvalid, assertRefused, keys } from "./tokenCalls.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import { poolOf } from "../../market/tape/decoded.ts"
import { mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { replaced } from "../../support/marketStores.ts"
import { at, poolWith, priceAll } from "../../support/views.ts"

const NOW = 4000
const CREATOR = walletOf(50)
const books = makeBooks()
priceAll(books, [mintOf(2)])
books.tokens.set(mintOf(2), minted(10n ** 15n, 6))
books.pools.set(mintOf(2), [
  { ...poolWith(mintOf(2), "meteora-dbc", [1000n, 1000n]), graduation: { numerator: 1n, denominator: 4n } }
])

const launched = (n: number, event: Launch["event"], given: Partial<Launch> = {}): Launch => ({
  event,
  mint: mintOf(n),
  launchpad: "pump-fun",
  pool: poolOf(n),
  ...given
})

const launches = (query: Record<string, string> = {}, key = "b") =>
  call(`/api/v1/launches?${new URLSearchParams(query)}`, { key })
const launchesOf = (wallet: Address, query: Record<string, string> = {}) =>
  call(`/api/v1/wallets/${wallet}/launches?${new URLSearchParams(query)}`, { key: "a" })
const launch = (n: number) => call(`/api/v1/launches/${mintOf(n)}`, { key: "c" })
const read = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  return Schema.decodeUnknownSync(Schema.fromJsonString(LaunchesAnswer))(answer.text)
}
const numbersOf = (answer: Answer) =>
  read(answer).data.map(({ token }) => Array.from({ length: 9 }, (_, n) => n).find((n) => mintOf(n) === token.address))

/** Purchases of wallets 1 to 12, each twice and one in the block of the creation, among sales and net trades. */
const purchases = [
  at(2000, { mint: mintOf(2), wallet: CREATOR, index: 0 }),
  at(2000, { mint: mintOf(2), wallet: walletOf(90), index: 1, role: "wallet" }),
  at(2000, { mint: mintOf(2), wallet: walletOf(91), index: 2, side: "sell" }),
  ...Array.from({ length: 24 }, (_, i) =>
    at(2000, { mint: mintOf(2), wallet: walletOf(1 + Math.floor(i / 2)), index: 3 + i })
  )
]

layer(reading({ books, world: { keys } }))("launches", (it) => {
  it.effect("are unavailable before the first block", () =>
    Effect.gen(function* () {
      assertRefused(yield* launches(), 503, "data_unavailable")
      assertRefused(yield* launch(1), 503, "data_unavailable")
    })
  )

  it.effect("are listed newest first, with what is known of each", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW)
      yield* tape.apply(block(0))
      yield* tape.apply(block(10, { launches: [launched(1, "created", { creator: CREATOR })] }))
      const dbc = {
        launchpad: "meteora-dbc",
        creator: CREATOR,
        platform: "bags",
        quoteMint: mintOf(7),
        holderRewards: true
      }
      yield* tape.apply(block(2000, { launches: [launched(2, "created", dbc)], trades: purchases }))
      yield* tape.apply(
        block(3000, { launches: [launched(3, "migrated"), launched(1, "migrated", { pool: poolOf(9) })] })
      )
      yield* tape.apply(block(NOW))
      const { data, meta, nextCursor } = read(yield* launches())
      assert.deepStrictEqual(numbersOf(yield* launches()), [3, 2, 1])
      assert.isNull(nextCursor)
      assert.deepInclude(data[1], {
        launchpad: "meteora-dbc",
        platform: "bags",
        quoteMint: mintOf(7),
        holderRewards: true,
        creator: CREATOR,
        curve: poolOf(2),
        pool: poolOf(2),
        createdAtMs: (MONDAY + 2000) * 1000,
        graduatedAtMs: null
      })
      assert.strictEqual(data[1]?.curveProgressPct.value, "25")
      assert.strictEqual(data[1]?.trades.value, "26")
      assert.deepInclude(data[2], { curve: poolOf(1), pool: poolOf(9), graduatedAtMs: (MONDAY + 3000) * 1000 })
      assert.strictEqual(data[2]?.curveProgressPct.value, "100")
      assert.deepInclude(data[0], {
        platform: null,
        quoteMint: null,
        holderRewards: null,
        creator: null,
        curve: null,
        createdAtMs: null
      })
      // The list begins with the record.
      assert.deepStrictEqual(meta.coverage, { complete: false, reason: "not_captured" })
      const late = yield* launches({ from: String(MONDAY + 1000) })
      assert.deepStrictEqual(late.json("meta.coverage"), { complete: true, reason: null })
    })
  )

  it.effect("are chosen by launchpad, creator, migration and time", () =>
    Effect.gen(function* () {
      const of = Effect.fnUntraced(function* (query: Record<string, string>) {
        return numbersOf(yield* launches(query, "d"))
      })
      assert.deepStrictEqual(yield* of({ launchpad: "pump-fun" }), [3, 1])
      assert.deepStrictEqual(yield* of({ platform: "bags,letsbonk" }), [2])
      assert.deepStrictEqual(yield* of({ platform: "letsbonk" }), [])
      assert.deepStrictEqual(yield* of({ creator: CREATOR }), [2, 1])
      assert.deepStrictEqual(yield* of({ graduated: "true" }), [3, 1])
      assert.deepStrictEqual(yield* of({ graduated: "false" }), [2])
      assert.deepStrictEqual(yield* of({ from: String(MONDAY + 2000) }), [3, 2])
      assert.deepStrictEqual(yield* of({ to: String(MONDAY + 2000) }), [1])
    })
  )

  it.effect("of one wallet come with the share that graduated, of those whose creation was seen", () =>
    Effect.gen(function* () {
      const answer = yield* launchesOf(CREATOR)
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta } = Schema.decodeUnknownSync(Schema.fromJsonString(WalletLaunchesAnswer))(answer.text)
      assert.deepStrictEqual(
        data.map(({ token }) => token.address),
        [mintOf(2), mintOf(1)]
      )
      assert.deepStrictEqual(meta.sums, {
        created: 2,
        graduated: 1,
        graduatedPct: "50",
        migratedOnly: 0,
        newestAtMs: (MONDAY + 2000) * 1000
      })
      assert.deepStrictEqual(meta.coverage, { complete: false, reason: "not_captured" })
      const first = yield* launchesOf(CREATOR, { limit: "1" })
      const rest = yield* launchesOf(CREATOR, { limit: "1", cursor: String(first.json("nextCursor")) })
      assert.deepStrictEqual(rest.json("data.0.token.address"), mintOf(1))
      assert.deepStrictEqual(rest.json("meta.sums"), first.json("meta.sums"))
      assert.isNull(rest.json("nextCursor"))
      const none = yield* launchesOf(walletOf(77))
      assert.deepInclude(none.json("meta.sums"), { created: 0, graduatedPct: null, newestAtMs: null })
    })
  )

  it.effect("come in pages that new launches do not change", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const first = yield* launches({ limit: "1" })
      assert.deepStrictEqual(numbersOf(first), [3])
      yield* tape.apply(block(NOW, { launches: [launched(4, "created")] }))
      const cursor = String(first.json("nextCursor"))
      const second = yield* launches({ limit: "1", cursor })
      assert.deepStrictEqual(numbersOf(second), [2])
      const third = yield* launches({ limit: "1", cursor: String(second.json("nextCursor")) })
      assert.deepStrictEqual([numbersOf(third), third.json("nextCursor")], [[1], null])
      assertRefused(yield* launches({ limit: "2", cursor }), 400, "invalid_cursor")
      assertRefused(yield* launches({ limit: "1", cursor: "x" }), 400, "invalid_cursor")
    })
  )

  it.effect("have the first ten buyers in the order of the chain", () =>
    Effect.gen(function* () {
      const answer = yield* launch(2)
      assert.strictEqual(answer.status, 200, answer.text)
      const { data } = Schema.decodeUnknownSync(Schema.fromJsonString(LaunchAnswer))(answer.text)
      const { coverage, rows } = data.firstBuyers
      assert.deepStrictEqual(
        rows?.map(({ wallet }) => wallet),
        [CREATOR, ...Array.from({ length: 9 }, (_, i) => walletOf(i + 1))]
      )
      assert.deepStrictEqual(rows?.map(({ trade }) => trade.index).slice(0, 3), [0, 3, 5])
      assert.deepStrictEqual(rows?.map(({ isCreator }) => isCreator).slice(0, 2), [true, false])
      assert.strictEqual(rows?.[0]?.afterMs, 0)
      assert.deepStrictEqual(coverage, { complete: true, reason: null })
      assert.strictEqual(answer.json("meta.status"), "known")
      // Nothing of before its migration was seen.
      const unseen = yield* launch(3)
      assert.isNull(unseen.json("data.firstBuyers.rows"))
      assert.strictEqual(unseen.json("data.firstBuyers.coverage.reason"), "not_captured")
      // Created a moment ago, and not bought yet.
      assert.deepStrictEqual((yield* launch(4)).json("data.firstBuyers.rows"), [])
    })
  )

  it.effect("are refused with the name of the field", () =>
    Effect.gen(function* () {
      assertRefused(yield* launch(8), 404, "launch_not_found")
      assertInvalid(yield* call("/api/v1/launches/x", { key: "e" }), "path", "mint", "format")
      assertInvalid(yield* launches({ graduated: "yes" }, "e"), "query", "graduated", "format")
      assertInvalid(yield* launches({ from: "5", to: "5" }, "e"), "query", "to", "conflict")
      assertInvalid(yield* launches({ limit: "101" }, "e"), "query", "limit", "out_of_range")
    })
  )
})

const small = { tokens: 2, bars: 1000, trades: 1000, traders: 1000 }
layer(reading({ limits: small, world: { keys } }))("launches that were dropped to make room", (it) => {
  it.effect("make the list incomplete from their time on", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW)
      yield* tape.apply(block(0))
      for (const n of [1, 2, 3]) {
        yield* tape.apply(block(n * 1000, { launches: [launched(n, "created")] }))
      }
      yield* tape.apply(block(NOW))
      const coverageFrom = (second: number) =>
        Effect.map(launches({ from: String(MONDAY + second) }), (answer) => answer.json("meta.coverage.reason"))
      assert.deepStrictEqual(numbersOf(yield* launches()), [3, 2])
      assert.strictEqual(yield* coverageFrom(500), "limit_clipped")
      assert.strictEqual(yield* coverageFrom(1500), null)
    })
  )
})

const [FIRST, SECOND, THIRD, LATER] = [walletOf(61), walletOf(62), walletOf(63), walletOf(64)]
const HELD = new Map([
  [CREATOR, 5n * 10n ** 13n],
  [FIRST, 10n ** 13n],
  [LATER, 4n * 10n ** 13n]
])
/** Token 2 is followed and token 5 has a gap among its holders; nobody follows the others. */
const holders = Layer.succeed(HolderReader, {
  historyOf: () => Effect.die("not asked"),
  holdersOf: () => unknownFigures("not_captured"),
  countOf: () => unavailable("count", "not_captured"),
  suggest: () => "backfill_running" as const,
  knownOf: (mint, nowMs) =>
    mint === mintOf(2) || mint === mintOf(5)
      ? {
          total: 10n ** 15n,
          holders: 3,
          amountOf: (owner) => HELD.get(owner) ?? 0n,
          largest: () => 0n,
          poolCoverage: COMPLETE,
          life: { observedAtMs: nowMs, expiresAtMs: nowMs + 60_000 },
          slot: 76,
          lacking: mint === mintOf(5) ? "source_gap" : null
        }
      : null
})
const buyerBooks = makeBooks()
for (const n of [2, 4, 5]) {
  buyerBooks.tokens.set(mintOf(n), minted(10n ** 15n, 6))
}
const bought = { mint: mintOf(2), amount: 10n ** 13n }
const bundles = [
  at(1000, { ...bought, wallet: CREATOR, index: 0, signature: "first" }),
  at(1000, { ...bought, wallet: FIRST, index: 1, signature: "second" }),
  at(1001, { ...bought, wallet: SECOND, index: 0, signature: "both" }),
  at(1001, { ...bought, wallet: THIRD, index: 1, signature: "both" }),
  at(1002, { ...bought, wallet: LATER, index: 0, signature: "alone" }),
  at(1003, { ...bought, wallet: FIRST, index: 0, signature: "again" })
]

const buyers = (n: number, query = "", key = "f") =>
  Effect.map(call(`/api/v1/tokens/solana/${mintOf(n)}/first-buyers${query}`, { key }), (answer) => {
    assert.strictEqual(answer.status, 200, answer.text)
    return Schema.decodeUnknownSync(Schema.fromJsonString(FirstBuyersAnswer))(answer.text)
  })

layer(reading({ books: buyerBooks, world: { keys } }).pipe(Layer.provide(holders)))("first buyers of a token", (it) => {
  it.effect("are listed with what they bought, what they hold and with whom they bought", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW)
      yield* tape.apply(block(0))
      const launch = launched(2, "created", { creator: CREATOR })
      yield* tape.apply(block(1000, { launches: [launch], trades: bundles.slice(0, 2) }))
      yield* tape.apply(block(1001, { trades: bundles.slice(2, 4) }))
      yield* tape.apply(block(1002, { trades: bundles.slice(4, 5) }))
      yield* tape.apply(block(1003, { trades: bundles.slice(5) }))
      yield* tape.apply(block(2000, { launches: [launched(3, "migrated"), launched(4, "created")] }))
      const gap = at(2001, { ...bought, mint: mintOf(5), wallet: FIRST })
      yield* tape.apply(block(2001, { launches: [launched(5, "created")], trades: [gap] }))
      yield* tape.apply(block(NOW))
      const { data, meta } = yield* buyers(2)
      assert.deepStrictEqual(
        data.rows?.map(({ bundle, heldAmount, isHolding, rank, wallet }) => [
          rank,
          wallet,
          bundle,
          isHolding,
          heldAmount
        ]),
        [
          [1, CREATOR, "creation_slot", true, 5n * 10n ** 13n],
          [2, FIRST, "creation_slot", true, 10n ** 13n],
          [3, SECOND, "transaction", false, 0n],
          [4, THIRD, "transaction", false, 0n],
          [5, LATER, "none", true, 4n * 10n ** 13n]
        ]
      )
      assert.deepStrictEqual(
        data.rows?.map(({ boughtPct, heldPct }) => [boughtPct.value, heldPct.value]),
        [
          ["1", "5"],
          ["1", "1"],
          ["1", "0"],
          ["1", "0"],
          ["1", "4"]
        ]
      )
      assert.strictEqual(data.rows?.[1]?.trade.signature, "second")
      assert.deepInclude(data.summary, { buyers: 5, hasMore: false, holding: 3, bundled: 3 })
      assert.deepStrictEqual(
        [data.summary?.boughtPct.value, data.summary?.heldPct.value, data.summary?.bundledHeldPct.value],
        ["5", "10", "1"]
      )
      assert.deepStrictEqual([meta.status, meta.coverage], ["known", COMPLETE])
    })
  )

  it.effect("stay in their bundle when the list ends inside of it", () =>
    Effect.gen(function* () {
      const { data } = yield* buyers(2, "?limit=3")
      assert.deepStrictEqual(
        data.rows?.map(({ bundle }) => bundle),
        ["creation_slot", "creation_slot", "transaction"]
      )
      assert.deepInclude(data.summary, { buyers: 3, hasMore: true, holding: 2 })
    })
  )

  it.effect("are unknown when the creation was not seen, and none when nobody has bought", () =>
    Effect.gen(function* () {
      for (const n of [3, 9]) {
        const { data, meta } = yield* buyers(n)
        assert.deepInclude(data, { rows: null, summary: null, createdAtMs: null })
        assert.deepStrictEqual(meta.coverage, { complete: false, reason: "not_captured" })
      }
      const { data, meta } = yield* buyers(4)
      assert.deepStrictEqual([data.rows, meta.coverage], [[], COMPLETE])
    })
  )

  it.effect("do not say who still holds while holders are missing", () =>
    Effect.gen(function* () {
      const { data } = yield* buyers(5)
      assert.deepInclude(data.rows?.[0], { heldAmount: 10n ** 13n, isHolding: null, bundle: "none" })
      assert.deepInclude(data.rows?.[0]?.heldPct, { value: "1", status: "partial" })
      assert.strictEqual(data.summary?.holding, null)
      const tape = yield* Tape
      const trade = at(NOW, { ...bought, mint: mintOf(6), wallet: FIRST })
      yield* tape.apply(block(NOW, { launches: [launched(6, "created")], trades: [trade] }))
      const unfollowed = yield* buyers(6)
      assert.deepInclude(unfollowed.data.rows?.[0], { heldAmount: null, isHolding: null })
      assert.deepInclude(unfollowed.data.rows?.[0]?.boughtPct.coverage, { reason: "supply_unknown" })
    })
  )

  it.effect("are counted for several tokens in the order of the request", () =>
    Effect.gen(function* () {
      const mints = [3, 2].map(mintOf).join(",")
      const answer = yield* call(`/api/v1/tokens/first-buyers?addresses=${mints}`, { key: "g" })
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta } = Schema.decodeUnknownSync(Schema.fromJsonString(FirstBuyersListAnswer))(answer.text)
      assert.deepStrictEqual(
        data.map(({ address }) => address),
        [mintOf(3), mintOf(2)]
      )
      assert.isNull(data[0]?.summary)
      assert.deepInclude(data[1]?.summary, { buyers: 5, holding: 3 })
      assert.strictEqual(meta.coverage.reason, "not_captured")
    })
  )

  it("cost a unit more for each forty pages of trades beyond the first forty", () => {
    assert.deepStrictEqual([0, 1, 40, 41, 80, 81, 4000].map(buyersPrice), [3, 3, 3, 4, 4, 5, 102])
  })

  it.effect("are refused with the name of the field", () =>
    Effect.gen(function* () {
      const path = `/api/v1/tokens/solana/${mintOf(2)}/first-buyers`
      assertInvalid(yield* call(`${path}?limit=51`, { key: "h" }), "query", "limit", "out_of_range")
      assertInvalid(yield* call("/api/v1/tokens/solana/x/first-buyers", { key: "h" }), "path", "address", "format")
      const other = yield* call(`/api/v1/tokens/base/${mintOf(2)}/first-buyers`, { key: "h" })
      assertRefused(other, 400, "unsupported_chain")
      const many = yield* call("/api/v1/tokens/first-buyers?addresses=x", { key: "h" })
      assertInvalid(many, "query", "addresses", "format")
    })
  )
})

const memory = makeMemoryStores()
const store = { asked: 0 }
const stored = replaced(memory, {
  trades: {
    swapsOf: (request) =>
      Effect.suspend(() => {
        store.asked++
        return memory.trades.swapsOf(request)
      })
  }
})
layer(reading({ books: buyerBooks, stored, world: { keys } }))("first buyers of a young token", (it) => {
  it.effect("are read from the store at once, and kept for half a minute", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW)
      yield* tape.apply(block(0))
      const trades = bundles
        .slice(0, 2)
        .map(({ index, signature, wallet }) => at(NOW - 10, { ...bought, wallet, index, signature }))
      yield* tape.apply(block(NOW - 10, { launches: [launched(2, "created")], trades }))
      yield* tape.apply(block(NOW))
      for (let read = 1; read <= 2; read++) {
        yield* buyers(2, "", "b")
        assert.strictEqual(store.asked, 1)
      }
      yield* setSecond(NOW + 31)
      yield* buyers(2, "", "b")
      assert.strictEqual(store.asked, 2)
    })
  )

  it.effect("are paid by the pages that were read for them, and end where they cannot be paid", () =>
    Effect.gen(function* () {
      const reader = yield* MarketReader
      yield* setSecond(NOW + 100)
      const seen: Array<number> = []
      const note = (pages: number) => Effect.sync(() => void seen.push(pages))
      yield* reader.firstBuyersOfMany([mintOf(2)], 10, note)
      yield* reader.firstBuyersOfMany([mintOf(2)], 10, note)
      assert.deepStrictEqual(seen, [1, 0])
      const asked = store.asked
      yield* setSecond(NOW + 200)
      const mints = [2, 30, 31, 32, 33, 34, 35, 36].map(mintOf)
      const ended = yield* Effect.flip(reader.firstBuyersOfMany(mints, 10, () => Effect.fail("cannot pay" as const)))
      assert.strictEqual(ended, "cannot pay")
      assert.strictEqual(store.asked, asked + 1)
      // Nobody has paid for what is kept, nor when a later group cannot be paid.
      seen.length = 0
      const once = (pages: number) =>
        Effect.suspend(() => (seen.push(pages) > 1 ? Effect.fail("cannot pay" as const) : Effect.void))
      yield* Effect.flip(reader.firstBuyersOfMany(mints, 10, once))
      assert.deepStrictEqual(seen, [1, 1])
      seen.length = 0
      yield* reader.firstBuyersOfMany(mints, 10, note)
      yield* reader.firstBuyersOfMany(mints, 10, note)
      assert.deepStrictEqual(seen, [1, 1, 0, 0])
      assert.strictEqual(store.asked, asked + 1)
    })
  )

  it.effect("are counted once for a token that is named twice", () =>
    Effect.gen(function* () {
      const reader = yield* MarketReader
      yield* setSecond(NOW + 300)
      const seen: Array<number> = []
      const note = (pages: number) => Effect.sync(() => void seen.push(pages))
      yield* reader.firstBuyersOfMany([mintOf(2), mintOf(2)], 10, note)
      assert.deepStrictEqual(seen, [1])
    })
  )

  it.effect("are paid by one of two requests at once, and owed again when it fails or ends early", () =>
    Effect.gen(function* () {
      const reader = yield* MarketReader
      let second = NOW + 400
      const seen: Array<number> = []
      const note = (pages: number) => Effect.sync(() => void seen.push(pages))
      const stop = Effect.fail("cannot pay" as const)
      for (const isInterrupted of [false, true]) {
        yield* setSecond((second += 100))
        seen.length = 0
        const isPaying = yield* Latch.make()
        const goesOn = yield* Latch.make()
        const slow = (pages: number) =>
          note(pages).pipe(Effect.andThen(isPaying.open), Effect.andThen(goesOn.await), Effect.andThen(stop))
        const first = yield* Effect.forkChild(reader.firstBuyersOfMany([mintOf(2)], 10, slow))
        yield* isPaying.await
        yield* reader.firstBuyersOfMany([mintOf(2)], 10, note)
        assert.deepStrictEqual(seen, [1, 0])
        if (isInterrupted) {
          yield* Fiber.interrupt(first)
        } else {
          yield* goesOn.open
          assert.isTrue(Exit.isFailure(yield* Fiber.await(first)))
        }
        yield* reader.firstBuyersOfMany([mintOf(2)], 10, note)
        yield* reader.firstBuyersOfMany([mintOf(2)], 10, note)
        assert.deepStrictEqual(seen, [1, 0, 1, 0])
      }
    })
  )
})
