import { assert, describe, it } from "@effect/vitest"
import type { RawTransaction } from "../../../scripts/recompute/chain.ts"
import { readTransaction } from "../../../scripts/recompute/legs.ts"
import { liquidityOf } from "../../../scripts/recompute/liquidity.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { liquidityChangesOf } from "../../../src/chain/decoding/liquidityChanges.ts"
import { TOKEN_2022_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { swapDecoders } from "../../../src/programs/registry.ts"
import {
  accountsAt,
  bytesOf,
  type Call,
  encoded,
  type Holding,
  named,
  POOL,
  SIGNATURE,
  TOKEN,
  TRADER,
  transactionOf,
  transfer,
  transferChecked
} from "./transactions.ts"

const [A, B] = [named("vault token"), named("vault sol")]
const [OWN_A, OWN_B] = [named("trader token"), named("trader sol")]

const holdings = (program?: Holding["program"]): ReadonlyArray<Holding> => [
  { address: OWN_B, mint: SOL, owner: TRADER, decimals: 9, before: 5000n, after: 4000n },
  { address: OWN_A, mint: TOKEN, owner: TRADER, decimals: 6, before: 100n, after: 50n, ...(program && { program }) },
  { address: B, mint: SOL, owner: POOL, decimals: 9, before: 7000n, after: 8000n },
  { address: A, mint: TOKEN, owner: POOL, decimals: 6, before: 900n, after: 950n, ...(program && { program }) }
]

const deposit = [transfer(OWN_A, A, TRADER, 50n), transfer(OWN_B, B, TRADER, 1000n)]
const withdrawal = [transfer(A, OWN_A, POOL, 20n), transfer(B, OWN_B, POOL, 400n)]

interface Made {
  readonly dex: string
  readonly tag: string
  readonly pool: number
  readonly vaults: ReadonlyArray<number>
  readonly calls?: ReadonlyArray<Call>
}

const callOf = ({ calls = deposit, dex, pool, tag, vaults }: Made): Call => ({
  program: swapDecoders.find((decoder) => decoder.dex === dex)?.programId ?? named("unknown"),
  accounts: accountsAt(24, { [pool]: POOL, [vaults[0] ?? 30]: A, [vaults[1] ?? 30]: B }),
  data: bytesOf(tag, "0000000000000000"),
  calls
})

const changesOf = (calls: ReadonlyArray<Call>, given: object = {}) =>
  liquidityChangesOf(transactionOf({ signers: [TRADER], calls, holdings: holdings(), ...given }), 3)

const short = (calls: ReadonlyArray<Call>) =>
  changesOf(calls).map(({ kind, opens, sides }) => [kind, opens, ...sides.map(({ amount }) => amount)])

const cpmm = { dex: "raydium-cpmm", tag: "f223c68952e1f2b6", pool: 2, vaults: [6, 7] }

/** A deposit of each venue, by the order of accounts that its program states. */
const deposits: ReadonlyArray<Made> = [
  { dex: "raydium-amm-v4", tag: "03", pool: 1, vaults: [6, 7] },
  cpmm,
  { dex: "raydium-clmm", tag: "851d59df45eeb00a", pool: 2, vaults: [9, 10] },
  { dex: "raydium-clmm", tag: "4dffae527d1dc92e", pool: 4, vaults: [11, 12] },
  { dex: "orca-whirlpool", tag: "2e9cf3760dcdfbb2", pool: 0, vaults: [7, 8] },
  { dex: "orca-whirlpool", tag: "851d59df45eeb00a", pool: 0, vaults: [11, 12] },
  { dex: "meteora-dlmm", tag: "03dd95da6f8d76d5", pool: 1, vaults: [5, 6] },
  { dex: "meteora-damm-v2", tag: "b59d59438fb63448", pool: 0, vaults: [4, 5] },
  { dex: "pumpswap", tag: "f223c68952e1f2b6", pool: 0, vaults: [9, 10] }
]

/** The changes as a recount of the raw transaction finds them, which shares no code with the decoder. */
const recounted = (calls: ReadonlyArray<Call>, given: object = {}): ReadonlyArray<unknown> =>
  liquidityOf(
    readTransaction(encoded({ signers: [TRADER], calls, holdings: holdings(), ...given }) as unknown as RawTransaction)
  ).map(({ amounts, kind, pool }) => [kind, pool, ...amounts])

/** The same form of what the decoder finds. */
const decoded = (calls: ReadonlyArray<Call>, given: object = {}): ReadonlyArray<unknown> =>
  changesOf(calls, given).map(({ kind, pool, sides }) => [
    kind,
    pool,
    ...sides.filter(({ amount }) => amount > 0n).map(({ amount, mint }) => [mint, amount])
  ])

describe("changes of liquidity", () => {
  for (const made of deposits) {
    it(`are read from a deposit into ${made.dex} by ${made.tag}`, () => {
      assert.deepStrictEqual(changesOf([callOf(made)]), [
        {
          signature: SIGNATURE,
          index: 3 * 1024,
          kind: "added",
          pool: POOL,
          dex: made.dex,
          provider: TRADER,
          sides: [
            { mint: TOKEN, amount: 50n, decimals: 6 },
            { mint: SOL, amount: 1000n, decimals: 9 }
          ],
          opens: false,
          includesFees: false
        }
      ])
    })
  }

  it("equal a recount of the raw transaction, on every venue and in both directions", () => {
    for (const made of deposits) {
      assert.deepStrictEqual(decoded([callOf(made)]), recounted([callOf(made)]))
      assert.lengthOf(recounted([callOf(made)]), 1)
    }
    const moved = [transfer(A, OWN_A, POOL, 7n), transfer(OWN_B, B, TRADER, 9n)]
    const rebalanced = callOf({ dex: "meteora-dlmm", tag: "5c04b0c177b95309", pool: 1, vaults: [5, 6], calls: moved })
    const taken = callOf({ ...cpmm, tag: "b712469c946da122", calls: withdrawal })
    for (const calls of [[rebalanced], [taken]]) {
      assert.deepStrictEqual(decoded(calls), recounted(calls))
    }
    assert.deepStrictEqual(recounted([callOf({ ...cpmm, tag: "8fbe5adac41e33de" })]), [])
  })

  it("are numbered within a transaction, removals with what the vaults paid", () => {
    const taken = callOf({ ...cpmm, tag: "b712469c946da122", calls: withdrawal })
    const changes = changesOf([callOf(cpmm), taken])
    assert.deepStrictEqual(
      changes.map(({ index, kind, provider }) => [index, kind, provider]),
      [
        [3072, "added", TRADER],
        [3073, "removed", TRADER]
      ]
    )
    assert.deepStrictEqual(
      changes[1]?.sides.map(({ amount }) => amount),
      [20n, 400n]
    )
  })

  it("are two when liquidity is rebalanced: what came out, then what went in", () => {
    const moved = [transfer(A, OWN_A, POOL, 7n), transfer(OWN_B, B, TRADER, 9n)]
    const made = { dex: "meteora-dlmm", tag: "5c04b0c177b95309", pool: 1, vaults: [5, 6], calls: moved }
    assert.deepStrictEqual(short([callOf(made)]), [
      ["removed", false, 7n, 0n],
      ["added", false, 0n, 9n]
    ])
    assert.isTrue(changesOf([callOf(made)])[0]?.includesFees)
  })

  it("name one mint for a deposit of one mint", () => {
    const [first] = deposit
    const calls = first === undefined ? [] : [first]
    const made = { dex: "meteora-dlmm", tag: "5e9b6797465fdca5", pool: 1, vaults: [4], calls }
    assert.deepStrictEqual(short([callOf(made)]), [["added", false, 50n]])
  })

  it("say when the instruction creates the pool, also inside a migration", () => {
    const created = callOf({ dex: "pumpswap", tag: "e992d18ecf6840bc", pool: 0, vaults: [9, 10] })
    const migration = {
      program: named("launchpad"),
      accounts: accountsAt(24, {}),
      data: bytesOf("00"),
      calls: [created]
    }
    assert.deepStrictEqual(short([migration]), [["added", true, 50n, 1000n]])
  })

  it("count what arrived after a transfer fee", () => {
    const paid = [transferChecked(OWN_A, A, TRADER, TOKEN, 53n), transfer(OWN_B, B, TRADER, 1000n)]
    const changes = changesOf([callOf({ ...cpmm, calls: paid })], { holdings: holdings(TOKEN_2022_PROGRAM) })
    assert.deepStrictEqual(
      changes[0]?.sides.map(({ amount }) => amount),
      [50n, 1000n]
    )
  })

  it("are none for a swap, for an instruction that moved nothing, and for a failed transaction", () => {
    assert.deepStrictEqual(short([callOf({ ...cpmm, tag: "8fbe5adac41e33de" })]), [])
    assert.deepStrictEqual(short([callOf({ ...cpmm, calls: [] })]), [])
    assert.deepStrictEqual(changesOf([callOf(cpmm)], { error: "failed" }), [])
  })
})
