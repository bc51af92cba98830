import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { addressFromBytes, SOL } from "../../../src/domain/Address.ts"
import { incomplete } from "../../../src/domain/Scalar.ts"
import { makeOwnerKinds } from "../../../src/market/reads/ownerKinds.ts"
import { Launches } from "../../../src/market/model/Launches.ts"
import { makeDeriveAddress } from "../../../src/chain/programAddress.ts"
import { depthOf } from "../../../src/tokens/liquidity.ts"
import type { Prices } from "../../../src/tokens/PriceBook.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import type { Program } from "../../../src/programs/interface/Program.ts"
import { at, toyPool, toyProgram, vault } from "../toyChain.ts"
import { PoolCache } from "../../../src/quotes/pools/PoolCache.ts"
import { SearchRefusals } from "../../../src/quotes/pools/SearchRefusals.ts"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { chainWithOnePool, OTHER, POOL_2, settle, TOKEN, VAULT_A2, VAULT_B2, withBook } from "./bookScene.ts"

/** Another program with the same layout. */
const ALSO_REFUSED = at(203)

/** A program with the same layout whose accounts the node refuses to search. */
const REFUSED = at(202)
const refusedProgram: Program = {
  ...toyProgram,
  dex: "refused",
  programId: REFUSED,
  isPool: ({ owner }) => owner === REFUSED
}

const alsoRefused: Program = { ...refusedProgram, dex: "also-refused", programId: ALSO_REFUSED, isPool: () => false }

const hidden = {
  ...toyPool({ address: POOL_2, mintA: TOKEN, mintB: SOL, vaultA: VAULT_A2, vaultB: VAULT_B2 }),
  owner: REFUSED
}

const chainThatRefuses = () => {
  const chain = chainWithOnePool().put(hidden, vault(VAULT_A2, 10n), vault(VAULT_B2, 10n))
  chain.refused.add(REFUSED).add(ALSO_REFUSED)
  return chain
}

const noPrices: Prices = {
  of: () => null,
  lifetime: null,
  isStale: false,
  silentMs: 0,
  clock: { slot: 1, epoch: 0, unixTimestamp: 0 }
}

const stateOfSearch = Effect.map(SourceMonitor.SourceMonitor, ({ history, sources }) => ({
  ...sources(0).find(({ source }) => source === "pool_search"),
  lastError: history("pool_search", "partial", 0).lastError?.detail
}))

describe("a search that the provider refuses", () => {
  it.effect("is not repeated every minute, while the pools of other programs are quoted", () => {
    const chain = chainThatRefuses()
    const warnings: Array<unknown> = []
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
          const { searches } = chain
          // At most two for each program: searches of a refused program that were in flight.
          assert.isAtMost(searches, 6)
          yield* TestClock.adjust("2 minutes")
          yield* settle
          assert.strictEqual(chain.searches - searches, 4)
          assert.strictEqual(warnings.length, 1)
          const { advice, lastError, reason, status } = yield* stateOfSearch
          assert.deepStrictEqual([status, reason], ["partial", "not_captured"])
          assert.include(String(advice), "getProgramAccounts for also-refused, refused: set SOLANA_RPC_URL")
          assert.include(String(lastError), "-32010")
        }),
      {},
      [toyProgram, refusedProgram, alsoRefused]
    ).pipe(
      Effect.provide(SourceMonitor.layer),
      Effect.provide(
        Logger.layer([
          Logger.make(({ logLevel, message }) => (logLevel === "Warn" ? warnings.push(message) : undefined))
        ])
      )
    )
  })

  it.effect("keeps pools that trades have named, and mints without any other pool", () => {
    const chain = chainThatRefuses()
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          assert.deepStrictEqual(book.between(TOKEN, SOL), { pools: [], refused: [] })
          book.learn(TOKEN, POOL_2)
          yield* settle
          assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
          yield* TestClock.adjust("3 minutes")
          yield* settle
          assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
        }),
      {},
      [refusedProgram]
    )
  })

  it.effect("leaves open whether the pools of a mint are complete", () => {
    const chain = chainThatRefuses()
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          assert.strictEqual(book.lacking(TOKEN), "not_captured")
          const pools = makeOwnerKinds(makeDeriveAddress(), book, { launches: new Launches(1) })(TOKEN)
          assert.deepStrictEqual(pools.coverage, incomplete("not_captured"))
          assert.deepStrictEqual(depthOf(book.poolsOf(TOKEN), noPrices, book.lacking(TOKEN)), {
            pools: [],
            micro: null,
            lacking: "not_captured"
          })
          chain.refused.clear()
          yield* TestClock.adjust("62 minutes")
          yield* settle
          assert.strictEqual(book.poolsOf(TOKEN).length, 1)
          assert.isNull(book.lacking(TOKEN))
        }),
      {},
      [refusedProgram]
    )
  })

  it.effect("does not change the count of left-out pools, however often the other programs are searched", () => {
    const chain = chainThatRefuses()
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          book.learn(TOKEN, POOL_2)
          yield* settle
          assert.strictEqual(book.leftOut(TOKEN), 1)
          yield* TestClock.adjust("3 minutes")
          yield* settle
          assert.strictEqual(book.leftOut(TOKEN), 1)
          chain.refused.clear()
          chain.accounts.delete(POOL_2)
          yield* TestClock.adjust("62 minutes")
          yield* settle
          assert.strictEqual(book.leftOut(TOKEN), 0)
        }),
      { POOLS_PER_MINT: "1" },
      [toyProgram, refusedProgram]
    )
  })

  it.effect("is tried again after an hour, and at once at another node", () => {
    const chain = chainThatRefuses()
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          const { searches } = chain
          yield* TestClock.adjust("59 minutes")
          assert.strictEqual(chain.searches, searches)
          yield* TestClock.adjust("3 minutes")
          assert.isAbove(chain.searches, searches)
          chain.refused.clear()
          chain.fresh = { ...chain.fresh, node: "another.test" }
          yield* TestClock.adjust("1 minute")
          yield* settle
          assert.strictEqual(book.between(TOKEN, SOL)?.pools.length, 1)
          assert.strictEqual((yield* stateOfSearch).status, "known")
        }),
      {},
      [refusedProgram]
    ).pipe(Effect.provide(SourceMonitor.layer))
  })
})

describe("the pools that are left out of a mint whose search is refused", () => {
  it("are counted up to a limit, however many pools trades name", () => {
    const cache = new PoolCache(makeDeriveAddress())
    cache.setPools(TOKEN, [], { leftOut: [], unsearched: new Set([refusedProgram]) })
    for (let n = 0; n < 6000; n++) {
      const address = addressFromBytes(
        new Uint8Array(32)
          .fill(7)
          .with(0, n % 256)
          .with(1, n >> 8)
      )
      cache.addPool(TOKEN, { program: refusedProgram, address, account: null, foundBy: undefined }, 0)
    }
    assert.strictEqual(cache.leftOut(TOKEN), 5000)
  })
})

const refusal = { reason: "invalid", detail: "no", isRefused: true } as const

/** Refusals with clocks and a node that the test controls. */
const scene = () => {
  const now = { node: "a.test", wallMs: 0, monotonicMs: 0 }
  const refusals = new SearchRefusals({
    node: () => now.node,
    nowMs: () => now.wallMs,
    monotonicMs: () => now.monotonicMs
  })
  return { now, refusals }
}

describe("SearchRefusals", () => {
  it("belong to the node that refused, even when another node is read by then", () => {
    const { now, refusals } = scene()
    now.node = "b.test"
    refusals.refused(toyProgram, TOKEN, new ChainUnavailable({ ...refusal, node: "a.test" }))
    assert.isFalse(refusals.isRefused(toyProgram, TOKEN))
    now.node = "a.test"
    assert.isTrue(refusals.isRefused(toyProgram, TOKEN))
  })

  it("by size belong to one mint, until it is forgotten", () => {
    const { refusals } = scene()
    assert.isTrue(refusals.refused(toyProgram, TOKEN, new ChainUnavailable({ ...refusal, isTooLarge: true })))
    refusals.answered(toyProgram)
    assert.isTrue(refusals.isRefused(toyProgram, TOKEN))
    assert.isFalse(refusals.isRefused(toyProgram, OTHER))
    assert.strictEqual(refusals.state().status, "partial")
    refusals.forget(TOKEN)
    assert.isFalse(refusals.isRefused(toyProgram, TOKEN))
    assert.strictEqual(refusals.state().status, "known")
  })

  it("by size end for the program that has answered, while another stays refused", () => {
    const { refusals } = scene()
    for (const program of [toyProgram, refusedProgram]) {
      refusals.refused(program, TOKEN, new ChainUnavailable({ ...refusal, isTooLarge: true }))
    }
    refusals.searched(toyProgram, TOKEN)
    assert.isFalse(refusals.isRefused(toyProgram, TOKEN))
    assert.isTrue(refusals.isRefused(refusedProgram, TOKEN))
    assert.include(refusals.advice ?? "", "getProgramAccounts for refused:")
    refusals.searched(refusedProgram, TOKEN)
    assert.isNull(refusals.advice)
    assert.isFalse(refusals.some)
  })

  it("last for an hour, whatever the wall clock does", () => {
    const { now, refusals } = scene()
    refusals.refused(toyProgram, TOKEN, new ChainUnavailable(refusal))
    now.wallMs = 7_200_000
    assert.isTrue(refusals.isRefused(toyProgram, TOKEN))
    now.wallMs = -7_200_000
    now.monotonicMs = 3_600_000
    assert.isFalse(refusals.isRefused(toyProgram, TOKEN))
  })
})
