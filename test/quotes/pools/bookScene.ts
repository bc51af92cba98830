/** A token, two pools of it, and a book over a toy chain. */
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Program } from "../../../src/programs/interface/Program.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { PoolBook } from "../../../src/quotes/pools/PoolBook.ts"
import { at, ToyChain, toyPool, toyProgram, vault } from "../toyChain.ts"

/** Traded against SOL in the first pool. */
export const TOKEN = at(10)
/** Traded against the token in the second pool. */
export const OTHER = at(11)
/** The first pool and its vaults. */
export const [POOL, VAULT_A, VAULT_B] = [at(20), at(21), at(22)]
/** The second pool and its vaults. */
export const [POOL_2, VAULT_A2, VAULT_B2] = [at(30), at(31), at(32)]

/** The pool of the token against SOL. */
export const first = toyPool({ address: POOL, mintA: TOKEN, mintB: SOL, vaultA: VAULT_A, vaultB: VAULT_B })
/** The pool of the two tokens. */
export const second = toyPool({ address: POOL_2, mintA: OTHER, mintB: TOKEN, vaultA: VAULT_A2, vaultB: VAULT_B2 })

/** A chain that has only the first pool. */
export const chainWithOnePool = () => new ToyChain().put(first, vault(VAULT_A, 1000n), vault(VAULT_B, 500n))

/** Lets every fiber run as far as it can without time passing. */
export const settle = TestClock.adjust(0).pipe(Effect.repeat({ times: 20 }))

/** Runs a test with a book over that chain. */
export const withBook = <A, E>(
  chain: ToyChain,
  use: (book: PoolBook["Service"]) => Effect.Effect<A, E>,
  settings: Record<string, string> = {},
  programs: ReadonlyArray<Program> = [toyProgram]
) =>
  PoolBook.use(use).pipe(
    Effect.provide(
      PoolBook.layerPrograms(programs).pipe(
        Layer.provide(chain.layer),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DISCOVERY_RATE: "100000", ...settings })))
      )
    )
  )

/** Output of each pool of the token against SOL for an amount of the token. */
export const outOf = (book: PoolBook["Service"], amount: bigint, chain: ToyChain) =>
  book.between(TOKEN, SOL)?.pools.map((pool) => pool.swap(true, amount, chain.time).amountOut)
