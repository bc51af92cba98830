import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../src/domain/Address.ts"
import { TokenReader } from "../../src/tokens/TokenReader.ts"
import {
  AUTHORITY,
  BROKEN,
  COLD,
  eventually,
  makeTokenWorld,
  NOTHING,
  PLAIN,
  TOKEN,
  tokensOver
} from "../support/tokens.ts"
import { known, missing, partly, settle, withTokens } from "./tokenScene.ts"

describe("TokenReader.decimalsOf", () => {
  it.effect("returns the decimals of a mint in memory, and queues a missing mint", () =>
    withTokens((tokens) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* tokens.decimalsOf(SOL), 9)
        assert.strictEqual(yield* eventually(tokens.decimalsOf(COLD), (decimals) => decimals !== null), 6)
        assert.isNull(yield* tokens.decimalsOf(NOTHING))
        yield* settle
        assert.isNull(yield* tokens.decimalsOf(NOTHING))
      })
    )
  )
})

describe("TokenReader.factsOf", () => {
  it.effect("returns the facts of the mint and its pools only", () =>
    withTokens((tokens) =>
      Effect.gen(function* () {
        const { data, knowledge } = yield* tokens.factsOf(TOKEN)
        assert.deepStrictEqual(data, {
          token: {
            chain: "solana",
            address: TOKEN,
            symbol: "FERN",
            name: "Fern Network",
            decimals: 6,
            imageUrl: null
          },
          supply: 1_000_000_000_000n,
          tokenProgram: "token-2022",
          mintAuthority: AUTHORITY,
          freezeAuthority: null,
          authoritiesKnown: true,
          extensions: ["transfer_fee"],
          priceUsd: known("0.3", "usd"),
          priceSol: known("0.002", "sol"),
          marketCapUsd: known("300000", "usd"),
          liquidityUsd: { ...missing("usd", "mark_unknown"), ...partly("670") },
          volume24hUsd: missing("usd", "not_captured"),
          holders: missing("count", "not_captured"),
          firstSeenAtMs: null,
          createdAtMs: null
        })
        assert.deepStrictEqual(knowledge, {
          observedAtMs: 1000,
          status: "partial",
          coverage: { complete: false, reason: "mark_unknown" }
        })
      })
    )
  )

  it.effect("is never zero where a figure is unknown", () =>
    withTokens((tokens) =>
      Effect.gen(function* () {
        const { data } = yield* tokens.factsOf(PLAIN)
        assert.deepStrictEqual(data.priceUsd, missing("usd", "not_captured"))
        assert.deepStrictEqual(data.marketCapUsd, missing("usd", "mark_unknown"))
        assert.deepStrictEqual(data.liquidityUsd, missing("usd", "mark_unknown"))
        assert.isNull((yield* tokens.factsOf(COLD)).data.liquidityUsd.value)
      })
    )
  )

  it.effect("gives a null supply for wrapped SOL", () => {
    const world = makeTokenWorld()
    world.chain.put({ ...(world.chain.accounts.get(PLAIN) ?? assert.fail("no mint")), address: SOL })
    return withTokens(
      (tokens) =>
        Effect.gen(function* () {
          const { data } = yield* tokens.factsOf(SOL)
          assert.deepStrictEqual(data.priceUsd, known("150", "usd"))
          assert.deepStrictEqual(data.priceSol, known("1", "sol"))
          assert.isNull(data.supply)
          assert.strictEqual(data.token.decimals, 9)
          assert.deepStrictEqual(data.marketCapUsd, missing("usd", "supply_unknown"))
        }),
      world
    )
  })

  it.effect("hides an authority that was observed more than a day ago", () => {
    const world = makeTokenWorld()
    return withTokens(
      (tokens, { chain }) =>
        Effect.gen(function* () {
          chain.withheld.add(TOKEN)
          yield* TestClock.adjust(86_400_000)
          assert.isTrue((yield* tokens.factsOf(TOKEN)).data.authoritiesKnown)
          yield* TestClock.adjust(1)
          const { data } = yield* tokens.factsOf(TOKEN)
          assert.deepInclude(data, { authoritiesKnown: false, mintAuthority: null, freezeAuthority: null })
          assert.strictEqual(data.supply, 1_000_000_000_000n)
        }),
      world
    )
  })

  it.effect("distinguishes missing, malformed and unloaded mints, and queues the latter", () => {
    const world = makeTokenWorld()
    return Effect.andThen(
      TestClock.setTime(1000),
      TokenReader.use((tokens) =>
        Effect.gen(function* () {
          const refusal = (mint: typeof SOL) => Effect.map(Effect.flip(tokens.factsOf(mint)), ({ _tag }) => _tag)
          for (const mint of [TOKEN, NOTHING, BROKEN]) {
            assert.strictEqual(yield* refusal(mint), "TokenNotLoaded")
            assert.isTrue(world.pools.warmed.has(mint))
          }
          yield* settle
          assert.strictEqual(yield* refusal(NOTHING), "UnknownToken")
          assert.strictEqual(yield* refusal(BROKEN), "TokenMalformed")
          assert.strictEqual((yield* tokens.factsOf(TOKEN)).data.token.symbol, "FERN")
        })
      ).pipe(Effect.provide(tokensOver(world)))
    )
  })

  it.effect("hides prices once the chain has been silent", () =>
    withTokens((tokens) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(10_001)
        const { data, knowledge } = yield* tokens.factsOf(TOKEN)
        for (const scalar of [data.priceUsd, data.priceSol, data.marketCapUsd, data.liquidityUsd]) {
          assert.deepInclude(scalar, { value: null, status: "stale", observedAtMs: 1000, expiresAtMs: 11_000 })
        }
        assert.deepInclude(knowledge, { status: "stale", coverage: { complete: false, reason: "source_stale" } })
      })
    )
  )

  it.effect("has no facts about a mint that a recording omits", () => {
    const world = makeTokenWorld()
    world.chain.put({ ...(world.chain.accounts.get(PLAIN) ?? assert.fail("no mint")), lamports: 0n })
    return withTokens(
      (tokens) =>
        Effect.gen(function* () {
          const { data } = yield* tokens.factsOf(PLAIN)
          assert.deepInclude(data, {
            supply: null,
            tokenProgram: null,
            extensions: null,
            authoritiesKnown: false,
            mintAuthority: null
          })
          assert.isNull(data.token.decimals)
        }),
      world
    )
  })
})
