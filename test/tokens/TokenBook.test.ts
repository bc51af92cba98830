import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { findProgramAddress } from "../../src/chain/programAddress.ts"
import { metaplexAddress } from "../../src/tokens/metadata.ts"
import type { TokenState } from "../../src/tokens/TokenCache.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { at, ToyChain } from "../quotes/toyChain.ts"
import { classicMint, extendedMint, extension, metadataOf, metaplexAccount } from "./mints.ts"

const [MINT, OTHER] = [at(10), at(11)]
const METADATA = metaplexAddress(MINT, findProgramAddress)

/** Yields to every fiber without advancing the clock. */
const settle = TestClock.adjust(0).pipe(Effect.repeat({ times: 20 }))

const withBook = <A, E>(
  chain: ToyChain,
  use: (book: TokenBook["Service"]) => Effect.Effect<A, E>,
  settings: Record<string, string> = {}
) =>
  TokenBook.use(use).pipe(
    Effect.provide(
      TokenBook.layer.pipe(
        Layer.provide(chain.layer),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))
      )
    )
  )

const supplySlot = (state: TokenState | null) => (state?._tag === "Token" ? state.supplySlot : null)

describe("TokenBook", () => {
  it.effect("loads a mint on request, with slot and time of the observation", () => {
    const chain = new ToyChain().put(classicMint(MINT, { supply: 7n, slot: 5 }))
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(1_000_000)
        assert.isNull(book.read(MINT))
        yield* book.warm(MINT)
        yield* settle
        const state = book.read(MINT)
        assert.deepStrictEqual(state?.observation, { slot: 5, observedAtMs: 1_000_000 })
        assert.deepInclude(state?._tag === "Token" ? state.facts : null, { supply: 7n, decimals: 6 })
        assert.strictEqual(book.commitment, "confirmed")
      })
    )
  })

  it.effect("follows the mint: a write makes a new observation, time alone does not", () => {
    const chain = new ToyChain().put(classicMint(MINT, { mintAuthority: at(1) }))
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(MINT)
        yield* settle
        yield* TestClock.adjust("1 hour")
        yield* book.warm(MINT)
        yield* settle
        assert.strictEqual(book.read(MINT)?.observation.observedAtMs, 0)
        chain.write(9, classicMint(MINT, { slot: 9 }))
        yield* settle
        const state = book.read(MINT)
        assert.deepStrictEqual(state?.observation, { slot: 9, observedAtMs: 3_600_000 })
        assert.isNull(state?._tag === "Token" ? state.facts?.mintAuthority : at(1))
        assert.strictEqual(supplySlot(state), 1, "the supply is the same since the first observation")
        chain.write(12, classicMint(MINT, { slot: 12, supply: 8n }))
        yield* settle
        assert.strictEqual(supplySlot(book.read(MINT)), 12)
      })
    )
  })

  it.effect("reads unchanged mints from the chain again", () => {
    const chain = new ToyChain().put(classicMint(MINT))
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(MINT)
        yield* settle
        yield* TestClock.adjust("6 hours")
        yield* settle
        assert.strictEqual(book.read(MINT)?.observation.observedAtMs, 21_600_000)
        chain.withheld.add(MINT)
        yield* TestClock.adjust("12 hours")
        yield* settle
        assert.strictEqual(book.read(MINT)?.observation.observedAtMs, 21_600_000)
      })
    )
  })

  it.effect("takes the name from the mint, or from Metaplex when the mint carries none", () => {
    const named = extendedMint(OTHER, [extension(19, metadataOf(OTHER, "Tithe", "TITHE"))])
    const chain = new ToyChain().put(classicMint(MINT), metaplexAccount(METADATA, MINT, "Otter", "OTTER"), named)
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(MINT)
        yield* book.warm(OTHER)
        yield* settle
        assert.deepNestedInclude(book.read(MINT), {
          "metadata.name": "Otter",
          "metadata.symbol": "OTTER",
          "metadata.uri": "https://example.com/token.json",
          "metadata.origin.source": "metaplex",
          isMetadataRead: true
        })
        assert.deepNestedInclude(book.read(OTHER), {
          "metadata.name": "Tithe",
          "metadata.symbol": "TITHE",
          "metadata.uri": null
        })
        assert.sameMembers(Array.from(chain.watched), [MINT, METADATA, OTHER])
        chain.close(METADATA)
        yield* settle
        assert.deepInclude(book.read(MINT), { metadata: null })
      })
    )
  })

  it.effect("distinguishes a missing mint from one not requested, and requests it again after ten seconds", () => {
    const chain = new ToyChain()
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(MINT)
        yield* settle
        assert.strictEqual(book.read(MINT)?._tag, "NoToken")
        assert.strictEqual(chain.watched.size, 0)
        chain.put(classicMint(MINT, { slot: 3 }))
        yield* TestClock.adjust("9 seconds")
        yield* book.warm(MINT)
        yield* settle
        assert.strictEqual(book.read(MINT)?._tag, "NoToken")
        yield* TestClock.adjust("1 second")
        assert.isNull(book.read(MINT))
        yield* book.warm(MINT)
        yield* settle
        assert.strictEqual(book.read(MINT)?._tag, "Token")
      })
    )
  })

  it.effect("keeps the mints in memory however many others do not exist", () => {
    const chain = new ToyChain().put(classicMint(MINT))
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(MINT)
          yield* settle
          for (let n = 20; n < 60; n++) {
            yield* book.warm(at(n))
            yield* settle
          }
          assert.strictEqual(book.read(MINT)?._tag, "Token")
        }),
      { TOKENS_KEPT: "3" }
    )
  })

  it.effect("marks an account that its program would not write as malformed", () => {
    const broken = classicMint(MINT)
    broken.data[45] = 7
    return withBook(new ToyChain().put(broken), (book) =>
      Effect.gen(function* () {
        yield* book.warm(MINT)
        yield* settle
        assert.deepInclude(book.read(MINT), { _tag: "Malformed", detail: "is_initialized 7" })
      })
    )
  })

  it.effect("has no facts about a mint that a recording omits", () =>
    withBook(new ToyChain().put({ ...classicMint(MINT), lamports: 0n }), (book) =>
      Effect.gen(function* () {
        yield* book.warm(MINT)
        yield* settle
        assert.deepInclude(book.read(MINT), { _tag: "Token", facts: null, metadata: null })
      })
    )
  )

  it.effect("keeps a bounded number, and evicts the least recently used with its watched accounts", () => {
    const chain = new ToyChain().put(classicMint(MINT), classicMint(OTHER), classicMint(at(12)))
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(MINT)
          yield* book.warm(OTHER)
          yield* settle
          book.read(MINT)
          yield* book.warm(at(12))
          yield* settle
          assert.isNull(book.read(OTHER))
          assert.isNotNull(book.read(MINT))
          assert.isNotNull(book.read(at(12)))
          assert.strictEqual(chain.watched.size, 4)
          assert.isFalse(chain.watched.has(OTHER))
        }),
      { TOKENS_KEPT: "2" }
    )
  })

  it.effect("dates a recording by its own clock, and not at all without one", () => {
    const chain = new ToyChain().put(classicMint(MINT), classicMint(OTHER))
    chain.fresh = { slot: 1, heardAtMs: 0, state: "recorded" }
    chain.time = { slot: 1, epoch: 0, unixTimestamp: 1_700_000_000 }
    return withBook(chain, (book) =>
      Effect.gen(function* () {
        yield* book.warm(MINT)
        yield* settle
        assert.strictEqual(book.read(MINT)?.observation.observedAtMs, 1_700_000_000_000)
        chain.time = { ...chain.time, unixTimestamp: 0 }
        yield* book.warm(OTHER)
        yield* settle
        assert.isNull(book.read(OTHER)?.observation.observedAtMs)
      })
    )
  })
})
