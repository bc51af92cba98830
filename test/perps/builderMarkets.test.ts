import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { fixedText } from "../../src/perps/exact.ts"
import { hyperliquid } from "../../src/perps/hyperliquid.ts"
import { BASE, RECORDED_MS } from "./recording.ts"
import { json } from "./recorded.ts"

const market = (name: string, more: object = {}) => ({
  name,
  szDecimals: 3,
  maxLeverage: 10,
  deployerFeeScale: "1.0",
  lastFeeScaleChangeTime: null,
  ...more
})
const context = { funding: "0.00000625", openInterest: "7916.9594", premium: "0.0004" }

/** Answers in the documented form: the list of builders, the list of one builder, and a book. */
const answers: Readonly<Record<string, unknown>> = {
  perpDexs: [null, { name: "xyz", fullName: "XYZ", deployer: "0x1", oracleUpdater: null }, "odd"],
  "metaAndAssetCtxs xyz": [
    {
      universe: [
        market("xyz:TSLA", { growthMode: "enabled" }),
        market("xyz:GOLD", { deployerFeeScale: "0.5" }),
        market("xyz:ODD", { deployerFeeScale: "much" }),
        market("xyz:GONE", { isDelisted: true })
      ],
      marginTables: [],
      collateralToken: 0
    },
    [context, context, context, context]
  ],
  allPerpMetas: [
    { universe: [market("BTC"), market("kPEPE"), market("FTT", { isDelisted: true })], marginTables: [] },
    null,
    { universe: [market("xyz:TSLA"), market("xyz:GONE", { isDelisted: true }), { szDecimals: 2 }], marginTables: [] },
    "odd"
  ],
  l2Book: {
    coin: "xyz:TSLA",
    time: RECORDED_MS,
    levels: [[{ px: "400.1", sz: "2.0", n: 1 }], [{ px: "400.2", sz: "3.0", n: 1 }]]
  }
}

const client = (asked: Array<string>) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.sync(() => {
        const { body } = request
        const sent: unknown = body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(body.body)) : {}
        const { dex, type } = sent as { readonly type: string; readonly dex?: string }
        const name = dex === undefined ? type : `${type} ${dex}`
        asked.push(name)
        return HttpClientResponse.fromWeb(request, json(answers[name] ?? null))
      })
    )
  )

const using = Effect.fnUntraced(function* (asked: Array<string> = []) {
  return yield* hyperliquid(BASE).pipe(Effect.provide(client(asked)))
})

describe("markets of builders on Hyperliquid", () => {
  it.effect("are read from the builder's own list, with the builder's fees", () =>
    Effect.gen(function* () {
      const { read } = yield* using()
      const { bids, fees, margin, openInterest } = yield* read("xyz:TSLA")
      assert.deepStrictEqual(
        bids.map(({ price }) => fixedText(price)),
        ["400.1"]
      )
      // Twice the venue's fees by the scale of one, and a tenth of that in growth mode.
      assert.deepStrictEqual(fees, { taker: 900_000n, maker: 300_000n })
      assert.strictEqual(openInterest == null ? null : fixedText(openInterest), "7916.9594")
      assert.deepStrictEqual(
        margin?.map(({ initial }) => fixedText(initial)),
        ["0.1"]
      )
      // One and a half times the venue's fees.
      assert.deepStrictEqual((yield* read("xyz:GOLD")).fees, { taker: 6_750_000n, maker: 2_250_000n })
    })
  )

  it.effect("are unreadable without a readable fee, and absent when delisted or unknown", () =>
    Effect.gen(function* () {
      const { read } = yield* using()
      const fault = yield* Effect.flip(read("xyz:ODD"))
      assert.strictEqual(fault._tag === "VenueUnreadable" && fault.why, "malformed")
      assert.strictEqual((yield* Effect.flip(read("xyz:GONE")))._tag, "NoMarket")
      assert.strictEqual((yield* Effect.flip(read("xyz:NOPE")))._tag, "NoMarket")
    })
  )

  it.effect("are listed with those of the venue, by one request", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const { markets } = yield* using(asked)
      const { names, unreadable } = yield* markets
      assert.deepStrictEqual([names, unreadable, asked], [["BTC", "kPEPE", "xyz:TSLA"], 2, ["allPerpMetas"]])
    })
  )

  it.effect("cost nothing for a builder that does not exist, beyond the list of builders", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const { read } = yield* using(asked)
      for (const symbol of ["aaa:TSLA", "bbb:TSLA", "ccc:TSLA"]) {
        assert.strictEqual((yield* Effect.flip(read(symbol)))._tag, "NoMarket")
      }
      assert.deepStrictEqual(asked, ["perpDexs"])
    })
  )
})
