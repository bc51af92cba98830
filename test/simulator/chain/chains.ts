/** Small simulated chains, and checks that several tests use. */
import { isUnpriceable, type Pool, type Program, type Unpriceable } from "../../../src/programs/interface/Program.ts"
import { meteoraDammV2 } from "../../../src/programs/meteora/dammV2.ts"
import { meteoraDbc } from "../../../src/programs/meteora/dbc.ts"
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import { pumpCurve } from "../../../src/programs/pump/curve.ts"
import { pumpSwap } from "../../../src/programs/pump/pumpSwap.ts"
import { raydiumAmmV4 } from "../../../src/programs/raydium/ammV4.ts"
import { raydiumClmm } from "../../../src/programs/raydium/clmm.ts"
import { raydiumLaunchLab } from "../../../src/programs/raydium/launchLab.ts"
import { raydiumCpmm } from "../../../src/programs/raydium/cpmm.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { whirlpool } from "../../../src/programs/orca/whirlpool.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { type Address, SOL } from "../../../src/domain/Address.ts"
import { type Bank, makeBank } from "../../../src/simulator/chain/Bank.ts"
import { makeMarket } from "../../../src/simulator/traders/Market.ts"
import type { SimPool } from "../../../src/simulator/chain/SimPool.ts"
import { balanceOf, heldBackIn, mintOf, supplyOf } from "../../../src/simulator/chain/tokens.ts"
import { makeDeriveAddress } from "../../../src/chain/programAddress.ts"

const derive = makeDeriveAddress()

export const newBank = (seed: string): Bank =>
  makeBank({ seed, startSlot: 520_000_000, startUnixMs: 1_790_000_000_000 })

export const newMarket = (seed: string, swapsPerSecond = 30) => {
  const bank = newBank(seed)
  return { bank, market: makeMarket({ seed, bank, swapsPerSecond }) }
}

const programs: ReadonlyArray<Program> = [
  raydiumAmmV4,
  raydiumCpmm,
  raydiumClmm,
  whirlpool,
  pumpSwap,
  pumpCurve,
  meteoraDlmm,
  meteoraDammV2,
  meteoraDbc
]

export const venues: ReadonlyArray<string> = programs.map(({ dex }) => dex)

const programOf = (dex: string): Program => {
  const program = [...programs, raydiumLaunchLab].find((candidate) => candidate.dex === dex)
  if (program === undefined) {
    throw new Error(`no program for ${dex}`)
  }
  return program
}

/** The pool as the engine decodes it from only the accounts it needs. */
export const decode = (bank: Bank, { address, dex, mintA }: SimPool): Pool | Unpriceable => {
  const program = programOf(dex)
  const pool = bank.must(address)
  const known = new Map<Address, OnChainAccount | null>()
  const accounts = (wanted: Address) => known.get(wanted)
  for (let before = -1; known.size > before;) {
    before = known.size
    program.needs(pool, accounts, derive, mintA).forEach((wanted) => known.set(wanted, bank.get(wanted) ?? null))
  }
  return program.decode(pool, accounts, derive, mintA)
}

export const decoded = (bank: Bank, pool: SimPool): Pool => {
  const read = decode(bank, pool)
  if (isUnpriceable(read)) {
    throw new Error(`${pool.dex} ${pool.address}: ${read.reason}, ${read.detail}`)
  }
  return read
}

const isTokenAccount = ({ owner, data }: OnChainAccount): boolean =>
  (owner === TOKEN_PROGRAM && data.length === 165) || (owner === TOKEN_2022_PROGRAM && data[165] === 2)

/** For every mint, balances minus supply. All are zero when money is conserved. */
export const discrepancies = (bank: Bank): ReadonlyMap<Address, bigint> => {
  const sums = new Map<Address, bigint>()
  for (const account of bank.accounts()) {
    if (isTokenAccount(account)) {
      const mint = mintOf(account)
      sums.set(mint, (sums.get(mint) ?? 0n) + balanceOf(account) + heldBackIn(account))
    }
  }
  sums.delete(SOL)
  return new Map(Array.from(sums, ([mint, sum]) => [mint, sum - supplyOf(bank.must(mint))]))
}

export const totalLamports = (bank: Bank): bigint => {
  let sum = 0n
  for (const { lamports } of bank.accounts()) {
    sum += lamports
  }
  return sum
}
