/** Pump.fun bonding curves as the program writes them: pump-fun/pump-public-docs for the layout of accounts. */
import { readU64 } from "../amm/bytes.ts"
import { outputFor } from "../amm/constantProduct.ts"
import { ceilDiv } from "../amm/integers.ts"
import { pumpCurve } from "../amm/pumpCurve.ts"
import { netOf, PUMP_PROGRAM } from "../amm/pumpFees.ts"
import { type Pool, isUnpriceable } from "../amm/Program.ts"
import { TOKEN_PROGRAM } from "../amm/tokenAccount.ts"
import { writeU64 } from "../amm/writes.ts"
import type { Account } from "../domain/Account.ts"
import { type Address, addressToBytes, type Mint, SOL } from "../domain/Address.ts"
import { associatedAddress, inventAddress, SYSTEM_PROGRAM } from "./addresses.ts"
import { ensurePumpFees } from "./pumpFeeAccounts.ts"
import type { LaunchCurve } from "./LaunchCurve.ts"
import type { Payment, SimPool } from "./SimPool.ts"
import { balanceOf } from "./tokens.ts"
import type { World } from "./World.ts"
import { newAccountData, writeAddress } from "./writeBytes.ts"

/** How every curve begins: a billion coins of six decimals, of which 793.1 million are for sale. */
export const curveStart = {
  supply: 1_000_000_000_000_000n,
  virtualTokens: 1_073_000_000_000_000n,
  virtualQuote: 30_000_000_000n,
  realTokens: 793_100_000_000_000n
}

const at = { virtualTokens: 8, virtualQuote: 16, realTokens: 24, realQuote: 32, supply: 40, complete: 48, creator: 49 }
/** The rates of the curve's fee schedule, which has one tier. */
const rates = { lp: 0n, protocol: 95n, creator: 30n }

const newState = (creator: Address): Uint8Array => {
  const data = newAccountData(150, "17b7f83760d8ac60")
  writeU64(data, at.virtualTokens, curveStart.virtualTokens)
  writeU64(data, at.virtualQuote, curveStart.virtualQuote)
  writeU64(data, at.realTokens, curveStart.realTokens)
  writeU64(data, at.supply, curveStart.supply)
  writeAddress(data, at.creator, creator)
  return data
}

/** The curve after `tokens` more were bought for `quote` more; both negative for a sale. */
const moved = (before: Uint8Array, tokens: bigint, quote: bigint): Uint8Array => {
  const data = before.slice()
  const add = (offset: number, amount: bigint) => writeU64(data, offset, readU64(data, offset) + amount)
  add(at.virtualTokens, -tokens)
  add(at.realTokens, -tokens)
  add(at.virtualQuote, quote)
  add(at.realQuote, quote)
  data[at.complete] = readU64(data, at.realTokens) === 0n ? 1 : 0
  return data
}

const share = (amount: bigint, bps: bigint): bigint => ceilDiv(amount * bps, 10_000n)

/** An account that collects lamports. */
const till = (world: World, label: string): Address => {
  const address = inventAddress(world.seed, `pump till ${label}`)
  if (world.bank.get(address) === undefined) {
    world.newAccount(address, SYSTEM_PROGRAM, new Uint8Array(0))
  }
  return address
}

/** A new coin's curve, with the whole supply of the coin. */
export const newPumpCurve = (world: World, mint: Mint, creator: Address): LaunchCurve => {
  ensurePumpFees(world)
  const { bank } = world
  const address = world.derive(PUMP_PROGRAM, [new TextEncoder().encode("bonding-curve"), addressToBytes(mint)])
  const vault = associatedAddress(world.derive, address, mint, TOKEN_PROGRAM)
  world.newAccount(address, PUMP_PROGRAM, newState(creator))
  world.newTokenAccount(vault, mint, address)
  world.issue(vault, mint, curveStart.supply)
  const protocolTill = till(world, "protocol")
  const creatorTill = till(world, `creator ${creator}`)
  let seen: Account | undefined
  let pool: Pool | null = null
  const current = (): Pool | null => {
    const account = bank.must(address)
    if (account !== seen) {
      const decoded = pumpCurve.decode(account, (wanted) => bank.get(wanted) ?? null, world.derive, mint)
      seen = account
      pool = isUnpriceable(decoded) ? null : decoded
    }
    return pool
  }

  const pay = (from: Payment["from"], to: Payment["to"], amount: bigint): Payment => ({ from, to, mint: SOL, amount })
  const dues = (from: Payment["from"], amount: bigint): ReadonlyArray<Payment> => [
    pay(from, protocolTill, share(amount, rates.protocol)),
    pay(from, creatorTill, share(amount, rates.creator))
  ]

  const plan: SimPool["plan"] = (aToB, wanted, clock) => {
    const swap = current()?.swap(aToB, wanted, clock)
    // The last buyer gets what is left, for less than was offered.
    if (swap === undefined || swap.ending === "refused" || swap.amountOut === 0n) {
      return null
    }
    const { amountIn, amountOut, ending } = swap
    const { data } = bank.must(address)
    const quote = readU64(data, at.virtualQuote)
    const tokens = readU64(data, at.virtualTokens)
    if (aToB) {
      const gross = outputFor(amountIn, tokens, quote)
      return {
        amountIn,
        amountOut,
        payments: [
          { from: "trader", to: vault, mint, amount: amountIn },
          pay(address, "trader", amountOut),
          ...dues(address, gross)
        ],
        writes: [{ address, data: moved(data, -amountIn, -gross) }]
      }
    }
    const charged = ending === "filled" ? netOf(amountIn, rates) + 1n : (amountOut * quote) / (tokens - amountOut) + 1n
    const fees = dues("trader", charged)
    const kept = fees.reduce((left, { amount }) => left - amount, amountIn)
    return {
      amountIn,
      amountOut,
      payments: [pay("trader", address, kept), { from: vault, to: "trader", mint, amount: amountOut }, ...fees],
      writes: [{ address, data: moved(data, amountOut, kept) }]
    }
  }

  const field = (offset: number) => Number(readU64(bank.must(address).data, offset))
  const complete = () => bank.must(address).data[at.complete] === 1
  return {
    address,
    dex: pumpCurve.dex,
    programId: PUMP_PROGRAM,
    mintA: mint,
    mintB: SOL,
    complete,
    remains: () => ({
      tokens: { from: vault, amount: balanceOf(bank.must(vault)) },
      lamports: { from: address, amount: readU64(bank.must(address).data, at.realQuote) }
    }),
    close: () => {
      const data = bank.must(address).data.slice()
      data.fill(0, at.virtualTokens, at.supply)
      bank.put({ ...bank.must(address), data })
    },
    open: () => !complete(),
    plan,
    price: () => field(at.virtualQuote) / field(at.virtualTokens),
    depth: () => ({ a: field(at.virtualTokens), b: field(at.virtualQuote) })
  }
}
