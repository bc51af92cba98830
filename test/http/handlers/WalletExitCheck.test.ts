import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { readFileSync } from "node:fs"
import { type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import { ExitCheck } from "../../../src/api/schemas/ExitCheck.ts"
import { WalletExitCheck } from "../../../src/api/schemas/WalletExit.ts"
import { WalletIndexUnavailable } from "../../../src/wallets/WalletIndex.ts"
import { WalletReader } from "../../../src/wallets/WalletReader.ts"
import { type Answer, call, keyOf, running } from "../../support/http.ts"
import { COLD, engineOver, LONELY, makeMarket, ODD, SHALLOW, TOKEN, UNSEARCHED } from "../../support/market.ts"
import { judgeOf, operationsOf } from "../../support/openapi.ts"
import { readerOver } from "../../wallets/readers.ts"
import { MINT, OTHER, tradeOf, WALLET, walletOf } from "../../wallets/trades.ts"

const send = (body: Record<string, unknown>, key = "a") =>
  call("/api/v1/spot/exit-check", {
    key,
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" }
  })

const document = JSON.parse(readFileSync(new URL("../../../src/api/openapi.json", import.meta.url), "utf8"))
const judge = judgeOf(document)
const operation = operationsOf(document).find(({ id }) => id === "spot.exitCheck")

const decoded = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  assert.isDefined(operation)
  judge(operation, answer)
  return Schema.decodeUnknownEffect(Schema.fromJsonString(WalletExitCheck), { onExcessProperty: "error" })(answer.text)
}

const assertInvalid = (answer: Answer, field: string, issue: string) => {
  assert.strictEqual(answer.status, 400, answer.text)
  assert.deepInclude([answer.json("error.details")].flat(), { in: "body", field, issue })
}

const holding = (mint: Mint, units: bigint, slot = 1) =>
  tradeOf({ mint, slot, amount: units === 0n ? 1n : units, held: { before: 0n, after: units } })

const MANY = walletOf(1)
const NONE = walletOf(2)

const trades = {
  [WALLET]: [
    holding(TOKEN, 900_000_000n, 9),
    holding(SHALLOW, 2000n, 8),
    holding(LONELY, 2000n, 7),
    holding(COLD, 5000n, 6),
    holding(ODD, 5000n, 5),
    holding(UNSEARCHED, 5000n, 4),
    tradeOf({ mint: MINT, slot: 3 }),
    holding(OTHER, 0n, 2)
  ],
  [OTHER]: [holding(TOKEN, 90_000_000n, 2), holding(LONELY, 3n, 1)],
  [MANY]: Array.from({ length: 60 }, (_, i) => holding(walletOf(100 + i), 1000n, 60 - i))
}

const market = makeMarket()
const keys = "abcdefghi"
  .split("")
  .map((letter) => keyOf(letter))
  .concat(keyOf("z", { scopes: ["tracker.read"] }))

/** The production reader; the balance of MINT is not known. */
const wallets = Layer.effect(
  WalletReader,
  Effect.map(WalletReader, (reader) =>
    WalletReader.of({
      ...reader,
      positionsOf: (wallet, limit) =>
        Effect.map(reader.positionsOf(wallet, limit), (found) => ({
          ...found,
          positions: found.positions.map((position) =>
            position.mint === MINT ? { ...position, holding: null, open: true } : position
          )
        }))
    })
  )
).pipe(Layer.provide(readerOver({ trades, marks: { [TOKEN]: 2n, [SHALLOW]: 3n } })))

layer(running({ keys, engine: engineOver(market), wallets }))("POST /api/v1/spot/exit-check of a wallet", (it) => {
  it.effect("prices every open position, and names the state of each that it could not price", () =>
    Effect.gen(function* () {
      const answer = yield* send({ wallet: WALLET })
      const check = yield* decoded(answer)
      assert.deepInclude(check, {
        wallet: WALLET,
        status: "partial",
        quoteMint: SOL,
        quoteDecimals: 9,
        slippageBps: 100
      })
      assert.deepStrictEqual(
        check.positions.map(({ mint, state }) => [mint, state]),
        [
          [TOKEN, "checked"],
          [SHALLOW, "checked"],
          [LONELY, "checked"],
          [COLD, "loading"],
          [ODD, "not_supported"],
          [UNSEARCHED, "not_searched"],
          [MINT, "unknown_balance"]
        ]
      )
      assert.deepStrictEqual(check.counts, {
        open: 7,
        checked: 3,
        unknownBalance: 1,
        quoteMint: 0,
        tooSmall: 0,
        loading: 1,
        deferred: 0,
        notSearched: 1,
        notSupported: 1,
        notReached: 0,
        leftOut: 0
      })
      assert.isTrue(check.positions.every(({ detail, state }) => (detail === null) === (state === "checked")))
      assert.deepStrictEqual(
        check.positions.map(({ amount }) => amount),
        [900_000_000n, 2000n, 2000n, 5000n, 5000n, 5000n, null]
      )
      assert.include(market.warmed, COLD)
      // Three ladders of six rungs were priced; the others cost nothing.
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "18")
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "282")
      const next = yield* send({ mint: TOKEN, amount: "90000000", ladder: [1] })
      assert.strictEqual(next.headers.get("x-ratelimit-remaining"), "281")
    })
  )

  it.effect("has the ladder and the sums of the checks of single positions", () =>
    Effect.gen(function* () {
      const check = yield* decoded(yield* send({ wallet: WALLET }, "b"))
      const alone = yield* Effect.forEach([TOKEN, SHALLOW, LONELY], (mint) => {
        const amount = mint === TOKEN ? "900000000" : "2000"
        return Effect.flatMap(send({ mint, amount, decimals: 6 }, "b"), ({ text }) =>
          Schema.decodeUnknownEffect(Schema.fromJsonString(ExitCheck))(text)
        )
      })
      assert.deepStrictEqual(
        check.positions.slice(0, 3).map(({ exit }) => exit?.summary),
        alone.map(({ summary }) => summary)
      )
      const within = alone.map(
        ({ rungs }) =>
          rungs.findLast(({ realizedImpactPct }) => realizedImpactPct !== null && realizedImpactPct <= 2)?.outAmount ??
          0n
      )
      assert.isAbove(Number(within[0]), 0)
      assert.deepInclude(check.total, {
        maxImpactPct: 2,
        outAmount: within.reduce((sum, amount) => sum + amount, 0n),
        measured: 3,
        complete: false,
        fullExitOutAmount: alone[0]?.summary.fullExitOutAmount ?? null,
        fullExits: 1
      })
      assert.strictEqual(check.total.outUiAmount, Number(check.total.outAmount) / 1e9)
    })
  )

  it.effect("sums more within a wider impact", () =>
    Effect.gen(function* () {
      const narrow = yield* decoded(yield* send({ wallet: WALLET, maxImpactPct: 1, limit: 1 }, "c"))
      const wide = yield* decoded(yield* send({ wallet: WALLET, maxImpactPct: 50, limit: 1 }, "c"))
      assert.deepStrictEqual([narrow.counts.leftOut, narrow.positions.length, narrow.total.complete], [6, 1, false])
      assert.isBelow(narrow.positions[0]?.within?.fraction ?? 1, 1)
      assert.strictEqual(wide.positions[0]?.within?.fraction, 1)
      assert.isAbove(Number(wide.total.outAmount), Number(narrow.total.outAmount))
      assert.strictEqual(wide.total.outAmount, wide.total.fullExitOutAmount)
    })
  )

  it.effect("is complete when every open position was measured, and leaves out rungs below one unit", () =>
    Effect.gen(function* () {
      const check = yield* decoded(yield* send({ wallet: OTHER }, "d"))
      assert.deepStrictEqual(check.positions[1]?.exit?.ladder, [0.5, 0.75, 1])
      assert.deepInclude(check.total, { outAmount: 176_435_642n, measured: 2, complete: true })
      const dust = yield* decoded(yield* send({ wallet: OTHER, ladder: [0.01, 0.1] }, "d"))
      assert.deepStrictEqual([dust.positions[1]?.state, dust.counts.tooSmall], ["too_small", 1])
    })
  )

  it.effect("checks fifty positions for the whole budget, and counts the others", () =>
    Effect.gen(function* () {
      const answer = yield* send({ wallet: MANY }, "e")
      const check = yield* decoded(answer)
      assert.deepStrictEqual([check.counts.open, check.counts.checked, check.counts.leftOut], [60, 50, 10])
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "0")
      // No pool buys any of them: a known zero.
      assert.deepInclude(check.total, { outAmount: 0n, measured: 50, complete: false, fullExitOutAmount: null })
    })
  )

  it.effect("is refused before anything is priced when the budget cannot hold it, and costs nothing", () =>
    Effect.gen(function* () {
      yield* send({ wallet: OTHER }, "f")
      const warmed = market.warmed.length
      market.defect = new Error("priced")
      const refused = yield* send({ wallet: MANY }, "f")
      market.defect = undefined
      assert.strictEqual(refused.status, 429, refused.text)
      assert.strictEqual(refused.headers.get("x-ratelimit-remaining"), "291")
      assert.match(refused.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
      assert.strictEqual(market.warmed.length, warmed)
    })
  )

  it.effect("names the limit when no window of the budget can hold the check", () =>
    Effect.gen(function* () {
      const ladder = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1]
      assertInvalid(yield* send({ wallet: MANY, ladder }, "i"), "limit", "out_of_range")
      assert.strictEqual((yield* decoded(yield* send({ wallet: MANY, ladder, limit: 3 }, "i"))).counts.checked, 3)
    })
  )

  it.effect("has no sum for a wallet without known positions", () =>
    Effect.gen(function* () {
      const answer = yield* send({ wallet: NONE }, "g")
      const check = yield* decoded(answer)
      assert.deepInclude(check, { status: "unavailable", positions: [] })
      assert.deepInclude(check.total, { outAmount: null, outUiAmount: null, measured: 0, complete: false })
      assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
    })
  )

  it.effect("answers 503 for state that is too old, and charges nothing", () =>
    Effect.gen(function* () {
      market.fresh = { ...market.fresh, state: "loading" }
      const answer = yield* send({ wallet: WALLET }, "h")
      market.fresh = { ...market.fresh, state: "live" }
      assert.deepStrictEqual([answer.status, answer.json("error.code")], [503, "state_stale"])
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "300")
    })
  )

  for (const [what, body, field, issue] of [
    ["a wallet that is no address", { wallet: "x" }, "wallet", "format"],
    ["a wallet beside a mint", { wallet: WALLET, mint: TOKEN, amount: "5" }, "wallet", "unknown"],
    ["an amount of a wallet", { wallet: WALLET, amount: "5" }, "amount", "unknown"],
    ["no positions", { wallet: WALLET, limit: 0 }, "limit", "out_of_range"],
    ["fifty-one positions", { wallet: WALLET, limit: 51 }, "limit", "out_of_range"],
    ["an impact of nothing", { wallet: WALLET, maxImpactPct: 0 }, "maxImpactPct", "out_of_range"],
    ["an impact above fifty", { wallet: WALLET, maxImpactPct: 50.1 }, "maxImpactPct", "out_of_range"],
    ["a falling ladder", { wallet: WALLET, ladder: [0.5, 0.25] }, "ladder.1", "out_of_range"],
    [
      "proceeds that the native engine never measures",
      { wallet: WALLET, quoteMint: USDC },
      "quoteMint",
      "out_of_range"
    ],
    ["neither wallet nor mint", {}, "mint", "missing"]
  ] as const) {
    it.effect(`refuses ${what} at ${field} as ${issue}`, () =>
      Effect.gen(function* () {
        assertInvalid(yield* send(body, "g"), field, issue)
      })
    )
  }

  it.effect("needs an object and a key with md.read", () =>
    Effect.gen(function* () {
      const answer = yield* call("/api/v1/spot/exit-check", {
        method: "POST",
        body: `"${WALLET}"`,
        headers: { "content-type": "application/json" }
      })
      assertInvalid(answer, "", "type")
      assert.strictEqual(answer.json("error.message"), "The body must be an object.")
      assert.strictEqual((yield* send({ wallet: WALLET }, "z")).status, 403)
    })
  )
})

const gone = readerOver({ index: () => Effect.fail(new WalletIndexUnavailable({ cause: new Error("gone") })) })

layer(running({ engine: engineOver(makeMarket()), wallets: gone }))(
  "an exit check without the wallet's trades",
  (it) => {
    it.effect("answers 503 data_unavailable, and charges nothing", () =>
      Effect.gen(function* () {
        const answer = yield* send({ wallet: WALLET })
        assert.deepStrictEqual([answer.status, answer.json("error.code")], [503, "data_unavailable"])
        assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "300")
      })
    )
  }
)
