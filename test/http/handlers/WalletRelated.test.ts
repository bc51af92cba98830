import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { WalletRelatedAnswer } from "../../../src/api/Wallets.ts"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import type { Address } from "../../../src/domain/Address.ts"
import type { Signature } from "../../../src/domain/Signature.ts"
import {
  firstOpenings,
  type OpeningRecord,
  type OpeningsRequest,
  relatedOpenings
} from "../../../src/market/model/WalletOpenings.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import { MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf, running } from "../../support/http.ts"
import { readerOver } from "../../wallets/readers.ts"

const [FUNDER, EXCHANGE, AWAY] = [walletOf(1), walletOf(2), walletOf(3)]

const opened = (n: number, funder: Address, slot: number): OpeningRecord => ({
  wallet: walletOf(n),
  funder,
  slot,
  index: 64,
  timeMs: (MONDAY + slot) * 1000,
  signature: `opening_${n}` as Signature,
  lamports: 2n ** 60n + BigInt(n)
})

const openings = firstOpenings([
  ...[11, 12, 13, 14].map((n) => opened(n, FUNDER, n)),
  ...Array.from({ length: 1001 }, (_, n) => opened(1000 + n, EXCHANGE, 100 + n))
])

const known = { from: MONDAY, toMs: (MONDAY + 2000) * 1000 }
const unlessAway = <A>(wallet: Address, found: A) =>
  wallet === AWAY ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("away") })) : Effect.succeed(found)

const memory = makeMemoryStores()
const stored = {
  ...memory,
  trades: {
    ...memory.trades,
    openingOf: (wallet: Address) =>
      unlessAway(wallet, { ...known, opening: openings.find((each) => each.wallet === wallet) ?? null }),
    openingsOf: (request: OpeningsRequest) =>
      unlessAway(request.wallet, { ...known, ...relatedOpenings(openings, request) })
  }
}

const tape = Layer.effect(
  Market,
  Market.use((service) => Effect.succeed({ ...service, stored: () => stored, recordedSince: () => MONDAY + 5 }))
).pipe(Layer.provide(Market.layerManual()))

const related = (wallet: Address, query: Record<string, string> = {}) =>
  call(`/api/v1/wallets/${wallet}/related?${new URLSearchParams(query)}`, { key: "a" })
const read = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  return Schema.decodeUnknownSync(Schema.fromJsonString(WalletRelatedAnswer))(answer.text)
}
const walletsOf = (answer: Answer) => read(answer).data.map(({ wallet }) => wallet)

layer(running({ keys: [keyOf("a")], wallets: readerOver({ tape }) }))("GET /api/v1/wallets/{wallet}/related", (it) => {
  it.effect("lists wallets with the same first funder, newest first, each with its transfer, in pages", () =>
    Effect.gen(function* () {
      const first = yield* related(walletOf(12), { limit: "2" })
      const { data, meta } = read(first)
      assert.deepStrictEqual(data[0], {
        wallet: walletOf(14),
        relation: "shared_funder",
        evidence: {
          funder: FUNDER,
          lamports: 2n ** 60n + 14n,
          signature: "opening_14",
          slot: 14,
          index: 64,
          timeMs: (MONDAY + 14) * 1000
        }
      })
      assert.deepInclude(meta, {
        status: "partial",
        coverage: { complete: false, reason: "not_captured" },
        coveredFromMs: (MONDAY + 5) * 1000,
        observedAtMs: (MONDAY + 2000) * 1000,
        funder: { wallet: FUNDER, opened: 4, hasMore: false, isHub: false }
      })
      assert.deepInclude(meta.funding, { funder: FUNDER, slot: 12 })
      assert.deepStrictEqual(walletsOf(first), [walletOf(14), walletOf(13)])
      const second = yield* related(walletOf(12), { limit: "2", cursor: String(first.json("nextCursor")) })
      assert.deepStrictEqual(walletsOf(second), [walletOf(11)])
      assert.isNull(second.json("nextCursor"))
      const other = yield* related(walletOf(12), {
        relation: "funded",
        limit: "2",
        cursor: String(first.json("nextCursor"))
      })
      assert.deepStrictEqual([other.status, other.json("error.code")], [400, "invalid_cursor"])
    })
  )

  it.effect("lists what a wallet funded first, and says that nothing is known of a wallet older than the record", () =>
    Effect.gen(function* () {
      const funded = yield* related(FUNDER, { relation: "funded" })
      assert.deepStrictEqual(walletsOf(funded), [14, 13, 12, 11].map(walletOf))
      assert.isNull(funded.json("meta.funding"))
      const unknown = read(yield* related(FUNDER))
      assert.deepStrictEqual([unknown.data, unknown.meta.funder, unknown.meta.status], [[], null, "unavailable"])
    })
  )

  it.effect("names a funder of more than a thousand wallets as a hub, and lists nobody", () =>
    Effect.gen(function* () {
      for (const [wallet, relation] of [
        [walletOf(1500), "shared_funder"],
        [EXCHANGE, "funded"]
      ] as const) {
        const { data, meta } = read(yield* related(wallet, { relation }))
        assert.deepStrictEqual(data, [])
        assert.deepStrictEqual(meta.funder, { wallet: EXCHANGE, opened: 1000, hasMore: true, isHub: true })
      }
    })
  )

  it.effect("is part of what funded a wallet, and unavailable while the store is", () =>
    Effect.gen(function* () {
      const funded = yield* call(`/api/v1/wallets/${walletOf(11)}/funded-by`, { key: "a" })
      assert.deepInclude(funded.json("data.opening"), { funder: FUNDER, signature: "opening_11", slot: 11 })
      for (const path of ["related", "funded-by"]) {
        const away = yield* call(`/api/v1/wallets/${AWAY}/${path}`, { key: "a" })
        assert.deepStrictEqual([away.status, away.json("error.code")], [503, "data_unavailable"])
      }
    })
  )
})
