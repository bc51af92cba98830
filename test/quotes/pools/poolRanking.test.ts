import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, SOL, USDC } from "../../../src/domain/Address.ts"
import type { Program } from "../../../src/programs/interface/Program.ts"
import { readAddress, writeAddress, writeU64 } from "../../../src/programs/layout/bytes.ts"
import { TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import type { FoundPool } from "../../../src/quotes/pools/foundPool.ts"
import { lamportPrice, measureOf, rankPools } from "../../../src/quotes/pools/poolRanking.ts"
import { at, constantProduct, toyPool, toyProgram } from "../toyChain.ts"
import { chainWithOnePool, OTHER, settle, TOKEN, VAULT_A, VAULT_B, withBook } from "./bookScene.ts"

/** The toy program, whose accounts name their vaults. */
const program: Program = {
  ...toyProgram,
  vaultsOf: ({ data }) =>
    [0, 32].map((offset) => ({ mint: readAddress(data, offset), vault: readAddress(data, offset + 64) }))
}

const tokenAccount = (address: Address, mint: Address, amount: bigint): OnChainAccount => {
  const data = new Uint8Array(165)
  writeAddress(data, 0, mint)
  writeU64(data, 64, amount)
  return { address, owner: TOKEN_PROGRAM, lamports: 1n, data, slot: 1 }
}

/** A pool of the token at `n`, with its vaults at the next two addresses. */
const found = (n: number, mintB: Address): FoundPool => ({
  program,
  address: at(n),
  account: toyPool({ address: at(n), mintA: TOKEN, mintB, vaultA: at(n + 1), vaultB: at(n + 2) }),
  foundBy: undefined
})

const pools = [found(100, OTHER), found(110, SOL), found(120, USDC), found(130, SOL), found(140, OTHER)]
const vaults = new Map(
  [
    tokenAccount(at(101), TOKEN, 5n),
    tokenAccount(at(112), SOL, 2000n),
    tokenAccount(at(122), USDC, 400n),
    tokenAccount(at(132), SOL, 9000n),
    tokenAccount(at(141), TOKEN, 6n)
  ].map((account) => [account.address, account])
)
const measured = pools.map((pool) => ({ pool, measure: measureOf(pool, TOKEN) }))
const order = (lamportUsd: Parameters<typeof rankPools>[2]) =>
  rankPools(measured, (address) => vaults.get(address), lamportUsd).map(({ address }) => address)

describe("the ranking of pools", () => {
  it("goes by the dollars or the SOL in their vaults, then by the balance of the mint", () => {
    // At 0.1 micro-dollars a lamport: 900, 400 and 200 micro-dollars.
    assert.deepStrictEqual(order({ numerator: 1n, denominator: 10n }), [130, 120, 110, 140, 100].map(at))
    assert.deepStrictEqual(order(null), [120, 130, 110, 140, 100].map(at))
  })

  it("puts a pool at a derived address first, and a pool with an unknown vault last", () => {
    const derived: FoundPool = { program, address: at(150), account: null, foundBy: TOKEN }
    const all = [...measured, { pool: derived, measure: measureOf(derived, TOKEN) }]
    const ranked = rankPools(all, (address) => (address === at(141) ? null : vaults.get(address)), null)
    assert.strictEqual(ranked[0]?.address, at(150))
    assert.strictEqual(ranked.at(-1)?.address, at(140))
  })

  it("takes the price of SOL from the pool with the most SOL", () => {
    const small = { ...constantProduct(at(1), SOL, USDC, [10n, 5n]), reserves: [10n, 5n] as const }
    const large = { ...constantProduct(at(2), USDC, SOL, [3n, 20n]), reserves: [3n, 20n] as const }
    const rate = lamportPrice([small, large], { slot: 1, epoch: 0, unixTimestamp: 0 })
    assert.deepStrictEqual(rate, { numerator: 3n, denominator: 20n })
    assert.isNull(lamportPrice([], { slot: 1, epoch: 0, unixTimestamp: 0 }))
  })
})

describe("a mint with more pools than may be watched", () => {
  it.effect("keeps the richest and counts the others", () => {
    const chain = chainWithOnePool().put(
      toyPool({ address: at(120), mintA: TOKEN, mintB: USDC, vaultA: VAULT_A, vaultB: at(122) }),
      toyPool({ address: at(130), mintA: TOKEN, mintB: USDC, vaultA: VAULT_A, vaultB: VAULT_B }),
      tokenAccount(at(122), USDC, 400n)
    )
    return withBook(
      chain,
      (book) =>
        Effect.gen(function* () {
          yield* book.warm(TOKEN)
          yield* settle
          assert.deepStrictEqual(
            book.poolsOf(TOKEN).map(({ address }) => address),
            [at(120)]
          )
          assert.strictEqual(book.leftOut(TOKEN), 2)
          assert.strictEqual(book.leftOut(OTHER), 0)
        }),
      { POOLS_PER_MINT: "1" },
      [program]
    )
  })
})
