import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../../src/domain/Address.ts"
import { call, keyOf, running } from "../../support/http.ts"
import { indexOf, readerOver } from "../../wallets/readers.ts"
import { MINT, MINT_2, OTHER, START, tradeOf, usd, WALLET } from "../../wallets/trades.ts"

const trades = [
  tradeOf({ slot: 9, role: "transfer", side: "sell", amount: 3n, volumeUsdNanos: null, counterparty: OTHER }),
  tradeOf({ slot: 8, side: "sell", amount: 4_000_000n, volumeUsdNanos: usd(8), lamports: 5n }),
  tradeOf({ slot: 7, mint: MINT_2, role: "wallet", volumeUsdNanos: null }),
  tradeOf({ slot: 6, index: 1, signature: "b" }),
  // Read from the wallet's own transactions: it has the place of another transaction in its slot.
  tradeOf({ slot: 6, index: 1, signature: "a" }),
  tradeOf({ slot: 6, index: 0 }),
  tradeOf({ slot: 5, role: "transfer", amount: 7n, volumeUsdNanos: null }),
  tradeOf({ slot: 4 })
]

const read = (path: string, query: Record<string, string> = {}, key = "a") =>
  call(`/api/v1/wallets/${path}?${new URLSearchParams(query)}`, { method: "GET", key })

const slotsOf = (answer: { readonly json: (path: string) => unknown }) =>
  [answer.json("data")].flat().map((row) => [Reflect.get(Object(row), "slot"), Reflect.get(Object(row), "signature")])

const tradesBy = (query: Record<string, string>) => Effect.map(read(`${WALLET}/trades`, query), slotsOf)

const reads = { count: 0 }
const fixed = indexOf({ [WALLET]: trades })
const index: typeof fixed = (wallet, share) =>
  Effect.suspend(() => {
    reads.count++
    return fixed(wallet, share)
  })

const keys = ["a", "b", "c", "d", "e"].map((letter) => keyOf(letter))

layer(running({ keys, wallets: readerOver({ index }) }))("GET /api/v1/wallets/{wallet}", (it) => {
  it.effect("/trades has the trades without the transfers, newest first, with what is known of them", () =>
    Effect.gen(function* () {
      const answer = yield* read(`${WALLET}/trades`)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(
        slotsOf(answer).map(([slot]) => slot),
        [8, 7, 6, 6, 6, 4]
      )
      assert.strictEqual(answer.json("data.0.volumeUsd"), "8")
      assert.isNull(answer.json("data.1.volumeUsd"))
      assert.isUndefined(answer.json("data.0.isWhole"))
      assert.deepStrictEqual(answer.json("data.0.legs.quote.amount"), "5")
      assert.deepInclude(answer.json("meta"), {
        wallet: WALLET,
        status: "partial",
        coverage: { complete: false, reason: "observed_swaps_only" }
      })
      assert.isNull(answer.json("nextCursor"))
    })
  )

  for (const limit of [1, 2, 3, 5]) {
    it.effect(`/trades gives each trade once over pages of ${limit}, also where two share a place`, () =>
      Effect.gen(function* () {
        const found: Array<unknown> = []
        let cursor: Record<string, string> = {}
        for (let pages = 0; pages < 10; pages++) {
          const answer = yield* read(`${WALLET}/trades`, { limit: String(limit), ...cursor }, "b")
          found.push(...slotsOf(answer))
          const next = answer.json("nextCursor")
          if (typeof next !== "string") {
            break
          }
          cursor = { cursor: next }
        }
        assert.deepStrictEqual(found, slotsOf(yield* read(`${WALLET}/trades`, {}, "b")))
        assert.lengthOf(found, 6)
      })
    )
  }

  it.effect("/trades reads the wallet once for all pages, and anew for each first page", () =>
    Effect.gen(function* () {
      const before = reads.count
      const first = yield* read(`${WALLET}/trades`, { limit: "2" }, "d")
      const second = yield* read(`${WALLET}/trades`, { limit: "2", cursor: String(first.json("nextCursor")) }, "d")
      yield* read(`${WALLET}/trades`, { limit: "2", cursor: String(second.json("nextCursor")) }, "d")
      assert.strictEqual(reads.count - before, 1)
      yield* read(`${WALLET}/trades`, { limit: "2" }, "d")
      assert.strictEqual(reads.count - before, 2)
      yield* TestClock.adjust("61 seconds")
      const late = yield* read(`${WALLET}/trades`, { limit: "2", cursor: String(first.json("nextCursor")) }, "e")
      assert.deepStrictEqual(slotsOf(late), slotsOf(second))
      assert.strictEqual(reads.count - before, 3)
    })
  )

  it.effect("/trades and /transfers answer every row that passes as CSV", () =>
    Effect.gen(function* () {
      const csv = yield* read(`${WALLET}/trades`, { format: "csv", side: "sell" }, "d")
      assert.strictEqual(csv.headers.get("content-type"), "text/csv; charset=utf-8")
      assert.strictEqual(
        csv.text,
        "signature,slot,index,timeMs,side,mint,amount,decimals,quoteMint,quoteAmount,priceUsd,priceSol,volumeUsd,volumeSol,frontEndFeeUsd,pool,dex,launchpad\r\n" +
          `sig_8_0,8,0,${START + 3200},sell,${MINT},4000000,6,${SOL},5,,0.00000000125,8,0.000000005,0,,,\r\n`
      )
      const asked = yield* call(`/api/v1/wallets/${WALLET}/trades`, {
        method: "GET",
        key: "d",
        headers: { accept: "text/csv" }
      })
      assert.lengthOf(asked.text.trimEnd().split("\r\n"), 7)
      const transfers = yield* read(`${WALLET}/transfers`, { format: "csv", direction: "in" }, "d")
      assert.deepStrictEqual(transfers.text.split("\r\n"), [
        "signature,slot,index,timeMs,direction,mint,amount,decimals,from,to",
        `sig_5_0,5,0,${START + 2000},in,${MINT},7,6,,${WALLET}`,
        ""
      ])
      const refused = yield* read(`${WALLET}/trades`, { format: "csv", limit: "2" }, "d")
      assert.deepStrictEqual([refused.status, refused.json("error.details.0.field")], [400, "limit"])
    })
  )

  it.effect("/trades filters by token, side and time", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* tradesBy({ mint: MINT_2 }), [[7, "sig_7_0"]])
      assert.deepStrictEqual(yield* tradesBy({ side: "sell" }), [[8, "sig_8_0"]])
      const second = START / 1000 + 3
      assert.lengthOf(yield* tradesBy({ from: String(second) }), 1)
      assert.lengthOf(yield* tradesBy({ to: String(second) }), 5)
    })
  )

  it.effect("/transfers has the direction and both ends where they are known, and is never complete", () =>
    Effect.gen(function* () {
      const answer = yield* read(`${WALLET}/transfers`)
      const rows = [answer.json("data")].flat()
      assert.deepStrictEqual(
        rows.map((row) => ["direction", "amount", "from", "to"].map((name): unknown => Reflect.get(Object(row), name))),
        [
          ["out", "3", WALLET, OTHER],
          ["in", "7", null, WALLET]
        ]
      )
      assert.isFalse(answer.json("meta.coverage.complete"))
      assert.lengthOf([(yield* read(`${WALLET}/transfers`, { direction: "in" })).json("data")].flat(), 1)
    })
  )

  it.effect("/performance has the results of the positions with their coverage, and none of an unknown wallet", () =>
    Effect.gen(function* () {
      const answer = yield* read(`${WALLET}/performance`)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepInclude(answer.json("data"), { wallet: WALLET, status: "partial" })
      assert.isObject(answer.json("data.summary.historyCoverage"))
      // Four purchases of one dollar were sold for eight; the other position is open.
      const { closed, known, positions, winRatePct } = Object(answer.json("data.results"))
      assert.deepStrictEqual([positions, closed, known, winRatePct], [2, 1, 1, "100"])
      const unknown = yield* read(`${OTHER}/performance`)
      assert.deepInclude(unknown.json("data"), { status: "unavailable", reason: "not_captured", results: null })
    })
  )

  it.effect("is unavailable for a wallet of which nothing is held", () =>
    Effect.gen(function* () {
      const answer = yield* read(`${OTHER}/trades`)
      assert.deepStrictEqual(answer.json("data"), [])
      assert.strictEqual(answer.json("meta.status"), "unavailable")
      assert.isNull(answer.json("meta.coveredFromMs"))
      assert.deepStrictEqual(answer.json("meta.coverage"), { complete: false, reason: "not_captured" })
    })
  )

  it.effect("refuses a cursor of another wallet, of another filter and of the other list", () =>
    Effect.gen(function* () {
      const first = yield* read(`${WALLET}/trades`, { limit: "2" }, "c")
      const cursor = String(first.json("nextCursor"))
      for (const [path, query] of [
        [`${OTHER}/trades`, { limit: "2" }],
        [`${WALLET}/trades`, { limit: "2", side: "buy" }],
        [`${WALLET}/transfers`, { limit: "2" }]
      ] as const) {
        const refused = yield* read(path, { ...query, cursor }, "c")
        assert.deepStrictEqual([refused.status, refused.json("error.code")], [400, "invalid_cursor"])
      }
    })
  )
})
