import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ScreenAnswer } from "../../../src/api/Screen.ts"
import { screenStatistics } from "../../../src/api/schemas/TokenScreen.ts"
import type { Address } from "../../../src/domain/Address.ts"
import type { TokenState } from "../../../src/tokens/TokenCache.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { at, DOLLAR, gainers, poolWith, priceAll } from "../../support/views.ts"

const COUNT = 9
const mints = Array.from({ length: COUNT }, (_, i) => mintOf(i + 1))
/** Its pools are not loaded, and the value of its trade is unknown. */
const UNPRICED = mintOf(COUNT + 1)
/** Launched by a wallet, without a trade. */
const LAUNCHED = mintOf(COUNT + 2)

const now = 4000

/** A mint that was read a minute ago, with or without its mint authority. */
const readJustNow = (mintAuthority: Address | null): TokenState => {
  const token = minted(2_000_000_000n, 6)
  return token._tag === "Token" && token.facts !== null
    ? {
        ...token,
        facts: { ...token.facts, mintAuthority },
        observation: { slot: 1, observedAtMs: (MONDAY + now - 60) * 1000 }
      }
    : token
}

const books = makeBooks()
priceAll(books, mints)
for (const [i, mint] of mints.entries()) {
  books.tokens.set(mint, minted(2_000_000_000n, 6))
  // A million units a side for each number of the token: two dollars for each.
  books.pools.set(mint, [poolWith(mint, "raydium-cpmm", [BigInt(i + 1) * 1_000_000n, BigInt(i + 1) * 1_000_000n])])
}

books.tokens.set(mintOf(7), readJustNow(null))
books.tokens.set(mintOf(8), readJustNow(walletOf(5)))

const keys = "abcdefgh".split("").map((letter) => keyOf(letter))
const screen = (body: object, key = "a") =>
  call("/api/v1/tokens/screen", {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
    key
  })
const code = (answer: Answer) => `${answer.status} ${String(answer.json("error.code"))}`
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(ScreenAnswer))

/** The numbers of the tokens, in the order of the page. */
const order = ({ status, text }: Answer): ReadonlyArray<number> => {
  assert.strictEqual(status, 200, text)
  return decode(text).data.map(({ token }) => [...mints, UNPRICED, LAUNCHED].indexOf(token.address) + 1)
}

const found = (body: object, key = "a") => Effect.map(screen(body, key), order)
const range = (statistic: string, bounds: object) => ({ statistic, ...bounds })

/** More tokens than are examined. Their volume of the day is unknown, because only an hour was seen. */
const MANY = 1200
const [EARLY, YOUNG] = [mintOf(5000), mintOf(5001)]

layer(reading({ world: { keys } }))("A screen of more tokens than are examined", (it) => {
  it.effect("has the tokens whose sort value is known first, however small it is", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now)
      yield* tape.apply(block(0))
      const launches = [EARLY, YOUNG].map((mint) => ({
        event: "created" as const,
        mint,
        launchpad: "pump",
        pool: null
      }))
      yield* tape.apply(block(now - 90, { launches }))
      const old = Array.from({ length: MANY }, (_, n) =>
        at(now - 60, { mint: mintOf(n + 1), index: n, volumeUsdNanos: 1000n * DOLLAR })
      )
      const young = [EARLY, YOUNG].map((mint, n) =>
        at(now - 50, { mint, index: n, volumeUsdNanos: BigInt(n + 1) * DOLLAR })
      )
      yield* tape.apply(block(now, { trades: [...old, ...young], launches: [] }))
      const answer = yield* screen({ limit: 4 }, "b")
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta } = decode(answer.text)
      assert.deepStrictEqual(
        data.map(({ token, values }) => [
          token.address === YOUNG ? 2 : token.address === EARLY ? 1 : 0,
          values["volumeUsd.24h"]?.value
        ]),
        [
          [2, "2"],
          [1, "1"],
          [0, null],
          [0, null]
        ]
      )
      assert.deepStrictEqual(meta.coverage.complete, false)
    })
  )
})

layer(reading({ books, world: { keys } }))("POST /api/v1/tokens/screen", (it) => {
  it.effect("is unavailable before the first block", () =>
    Effect.gen(function* () {
      assert.strictEqual(code(yield* screen({})), "503 data_unavailable")
    })
  )

  it.effect("has every token of the day by volume, with what was asked for and how well it is known", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now)
      yield* tape.apply(block(0))
      yield* tape.apply(
        block(now, {
          trades: [...gainers(COUNT, 100, now - 60), at(now - 50, { mint: UNPRICED, volumeUsdNanos: null })],
          launches: [
            {
              event: "created",
              mint: LAUNCHED,
              launchpad: "pump",
              pool: null,
              creator: walletOf(77),
              platform: "bags"
            } as never
          ]
        })
      )
      const answer = yield* screen({ show: ["volumeUsd.1h", "liquidityUsd", "holders", "changePct.1h"], limit: 100 })
      // Of the day only an hour was seen, but everything since the launch of the last token.
      assert.deepStrictEqual(order(answer), [11, 9, 8, 7, 6, 5, 4, 3, 2, 1, 10])
      const { data: rows, meta } = decode(answer.text)
      assert.strictEqual(rows[0]?.values["volumeUsd.24h"]?.value, "0")
      const data = rows.slice(1)
      assert.deepStrictEqual(Object.keys(data[0]?.values ?? {}), [
        "volumeUsd.24h",
        "volumeUsd.1h",
        "liquidityUsd",
        "holders",
        "changePct.1h"
      ])
      assert.strictEqual(data[0]?.values["volumeUsd.1h"]?.value, "81")
      assert.isNull(data[0]?.values["volumeUsd.24h"]?.value)
      assert.strictEqual(data[0]?.values["liquidityUsd"]?.value, "18")
      assert.strictEqual(data[0]?.values["changePct.1h"]?.value, "90")
      assert.isNull(data[0]?.values["holders"]?.value)
      assert.deepInclude(meta, {
        tokens: COUNT + 2,
        examined: COUNT + 2,
        excluded: { unknownFilter: 0 },
        sort: { statistic: "volumeUsd.24h", direction: "desc" }
      })
    })
  )

  it.effect("compares ranges exactly, both ends included", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found({ ranges: [range("volumeUsd.1h", { min: "25", max: "64" })] }), [8, 7, 6, 5])
      assert.deepStrictEqual(
        yield* found({ ranges: [range("volumeUsd.1h", { min: "25.000000000000000001", max: "63.9999" })] }),
        [7, 6]
      )
      assert.deepStrictEqual(
        yield* found({ ranges: [range("changePct.1h", { min: "-5", max: "20" }), range("trades.1h", { min: "2" })] }),
        [2]
      )
      assert.deepStrictEqual(
        yield* found({
          ranges: [range("liquidityUsd", { min: "15" })],
          sort: { statistic: "priceUsd", direction: "asc" }
        }),
        [8, 9]
      )
    })
  )

  it.effect("leaves unknown values out and counts them, and takes them when asked", () =>
    Effect.gen(function* () {
      const answer = yield* screen({ ranges: [range("liquidityUsd", { min: "17" })] }, "b")
      assert.deepStrictEqual(order(answer), [9])
      assert.deepStrictEqual(answer.json("meta.excluded"), { unknownFilter: 2 })
      const plain = yield* screen({ ranges: [range("volumeUsd.1h", { min: "80" })] }, "b")
      assert.deepStrictEqual(order(plain), [9])
      assert.deepStrictEqual(plain.json("meta.excluded"), { unknownFilter: 1 })
      assert.deepStrictEqual(
        yield* found({ ranges: [range("liquidityUsd", { min: "17", unknown: "include" })] }, "b"),
        [11, 9, 10]
      )
      assert.deepStrictEqual(
        yield* found({ ranges: [range("volumeUsd.1h", { min: "80", unknown: "include" })] }, "b"),
        [9, 10]
      )
      const unseen = yield* screen({ ranges: [range("trades.24h", { max: "1" })] }, "b")
      assert.deepStrictEqual(order(unseen), [11])
      assert.deepStrictEqual(unseen.json("meta.excluded"), { unknownFilter: COUNT + 1 })
    })
  )

  it.effect("filters by mint, venue, launchpad, platform, creator, migration and authorities", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found({ mints: [mintOf(3), mintOf(5)] }, "c"), [5, 3])
      assert.deepStrictEqual(yield* found({ venues: ["orca-whirlpool"] }, "c"), [])
      assert.lengthOf(yield* found({ venues: ["raydium-cpmm", "orca-whirlpool"] }, "c"), COUNT)
      for (const one of [
        { launchpads: ["pump"] },
        { platforms: ["bags"] },
        { creator: walletOf(77) },
        { graduated: false }
      ]) {
        assert.deepStrictEqual(yield* found(one, "c"), [11])
      }
      assert.deepStrictEqual(yield* found({ graduated: true }, "c"), [])
      // No other observation of a mint is recent enough to prove whether its authority is gone.
      const proven = yield* screen({ mintAuthority: "revoked" }, "c")
      assert.deepStrictEqual(order(proven), [7])
      assert.deepStrictEqual(proven.json("meta.excluded"), { unknownFilter: COUNT })
      assert.deepStrictEqual(yield* found({ mintAuthority: "active", freezeAuthority: "revoked" }, "c"), [8])
    })
  )

  it.effect("sorts by every statistic in both directions, unknown values last", () =>
    Effect.gen(function* () {
      for (const [place, statistic] of screenStatistics.entries()) {
        for (const direction of ["asc", "desc"] as const) {
          const key = "defgh"[Math.floor(place / 10)] ?? "h"
          const answer = yield* screen({ mints: [mintOf(2), mintOf(7), UNPRICED], sort: { statistic, direction } }, key)
          const values = decode(answer.text).data.map(({ values: own }) => own[statistic]?.value ?? null)
          const known = values.filter((value) => value !== null).map(Number)
          assert.deepStrictEqual(
            known,
            known.toSorted((a, b) => (direction === "asc" ? a - b : b - a)),
            `${statistic} ${direction}`
          )
          assert.isTrue(values.slice(known.length).every((value) => value === null))
        }
      }
    })
  )

  it.effect("shows one market on all pages", () =>
    Effect.gen(function* () {
      const body = { limit: 4, ranges: [range("trades.1h", { min: "1" })] }
      const first = yield* screen(body, "c")
      assert.deepStrictEqual(order(first), [9, 8, 7, 6])
      const tape = yield* Tape
      yield* tape.apply(
        block(now + 1, { trades: [at(now + 1, { mint: mintOf(1), volumeUsdNanos: 1000n * DOLLAR, index: 1 })] })
      )
      const second = yield* screen({ ...body, cursor: first.json("nextCursor") }, "c")
      assert.deepStrictEqual(order(second), [5, 4, 3, 2])
      const third = yield* screen({ ...body, cursor: second.json("nextCursor") }, "c")
      assert.deepStrictEqual(order(third), [1, 10])
      assert.isNull(third.json("nextCursor"))
      const other = yield* screen({ ...body, limit: 5, cursor: first.json("nextCursor") }, "c")
      assert.deepStrictEqual(other.json("error.details"), [{ in: "body", field: "cursor", issue: "format" }])
    })
  )

  it.effect("refuses what is no screen by the name of its field", () =>
    Effect.gen(function* () {
      for (const body of [
        { ranges: [range("volumeUsd", { min: "1" })] },
        { ranges: [range("volumeUsd.24h", {})] },
        { ranges: [range("volumeUsd.24h", { min: "1e3" })] },
        { ranges: [range("trades.5m", { min: "1" }), range("trades.5m", { max: "2" })] },
        { show: [] },
        { limit: 101 },
        { minVolumeUsd: "1" }
      ]) {
        const answer = yield* screen(body, "c")
        assert.strictEqual(code(answer), "400 invalid_request", JSON.stringify(body))
      }
    })
  )
})
