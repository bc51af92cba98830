/** Pump.fun bonding curves as the program writes them. Account layouts: pump-fun/pump-public-docs. */
import { readU64, newAccountData, writeAddress, writeU64 } from "../../programs/layout/bytes.ts"
import { outputFor } from "../../programs/math/constantProduct.ts"
import { CURVE_DISCRIMINATOR, CURVE_LENGTH, curveAt as at, curveOf, pumpCurve } from "../../programs/pump/curve.ts"
import { netOf, PUMP_PROGRAM } from "../../programs/pump/fees.ts"
import { isUnpriceable, type Pool, type Swap } from "../../programs/interface/Program.ts"
import { associatedAddress, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { inventAddress, SYSTEM_PROGRAM } from "../chain/addresses.ts"
import { ensurePumpFees } from "./pumpFeeAccounts.ts"
import type { LaunchCurve } from "../chain/LaunchCurve.ts"
import { type CurvePlaces, curveRates, feesOfCurve, pumpCurveCall } from "./pumpCalls.ts"
import type { Payment } from "../chain/Settlement.ts"
import type { SimPool } from "../chain/SimPool.ts"
import { balanceOf } from "../chain/tokens.ts"
import type { World } from "../chain/World.ts"

/** How every curve starts: a billion coins with six decimals, 793.1 million of them for sale. */
const curveStart = {
  supply: 1_000_000_000_000_000n,
  virtualTokens: 1_073_000_000_000_000n,
  virtualQuote: 30_000_000_000n,
  realTokens: 793_100_000_000_000n
}

const newState = (creator: Address): Uint8Array => {
  const data = newAccountData(CURVE_LENGTH, CURVE_DISCRIMINATOR)
  writeU64(data, at.virtualTokens, curveStart.virtualTokens)
  writeU64(data, at.virtualQuote, curveStart.virtualQuote)
  writeU64(data, at.realTokens, curveStart.realTokens)
  writeU64(data, at.supply, curveStart.supply)
  writeAddress(data, at.creator, creator)
  writeU64(data, at.initialVirtualQuote, curveStart.virtualQuote)
  return data
}

/** A trade on a curve: tokens bought and quote paid. Both are negative for a sale. */
interface Trade {
  readonly tokens: bigint
  readonly quote: bigint
  /** The part of a completing purchase that is paid from the tokens of the future pool. */
  readonly beyond: { readonly tokens: bigint; readonly quote: bigint }
  readonly protocolFee: bigint
  readonly creatorFee: bigint
}

/** The curve after a trade. */
const moved = (before: Uint8Array, { tokens, quote, beyond }: Trade): Uint8Array => {
  const data = before.slice()
  const add = (offset: number, amount: bigint) => writeU64(data, offset, readU64(data, offset) + amount)
  add(at.virtualTokens, -tokens)
  add(at.realTokens, -tokens)
  add(at.virtualQuote, quote)
  add(at.realQuote, quote)
  add(at.postCompleteBase, beyond.tokens)
  add(at.postCompleteQuote, beyond.quote)
  data[at.complete] = readU64(data, at.realTokens) === 0n ? 1 : 0
  return data
}

/** Creates an account that collects lamports. */
const till = (world: World, label: string): Address => {
  const address = inventAddress(world.seed, `pump till ${label}`)
  if (world.bank.get(address) === undefined) {
    world.newAccount(address, SYSTEM_PROGRAM, new Uint8Array(0))
  }
  return address
}

const NOTHING_BEYOND = { tokens: 0n, quote: 0n }

const dues = (amount: bigint) => {
  const { protocol, creator } = feesOfCurve(amount)
  return { protocolFee: protocol, creatorFee: creator, fees: protocol + creator }
}

const sale = (data: Uint8Array, { amountIn }: Swap): Trade => {
  const gross = outputFor(amountIn, readU64(data, at.virtualTokens), readU64(data, at.virtualQuote))
  return { tokens: -amountIn, quote: -gross, beyond: NOTHING_BEYOND, ...dues(gross) }
}

/** Quote for all the tokens that a curve has left, before fees. */
const costOfRest = (data: Uint8Array): bigint => {
  const tokens = readU64(data, at.realTokens)
  return (tokens * readU64(data, at.virtualQuote)) / (readU64(data, at.virtualTokens) - tokens) + 1n
}

const purchase = (data: Uint8Array, { amountIn, amountOut, ending }: Swap): Trade => {
  const left = readU64(data, at.realTokens)
  if (amountOut > left) {
    const quote = costOfRest(data)
    const own = dues(quote)
    const rest = amountIn - quote - own.fees
    const more = dues(netOf(rest, curveRates) + 1n)
    return {
      tokens: left,
      quote,
      beyond: { tokens: amountOut - left, quote: rest - more.fees },
      protocolFee: own.protocolFee + more.protocolFee,
      creatorFee: own.creatorFee + more.creatorFee
    }
  }
  // Fees on an exact input are charged on one unit more than the curve prices. The last tokens have an exact price.
  const { fees, ...due } = dues(ending === "filled" ? netOf(amountIn, curveRates) + 1n : costOfRest(data))
  return { tokens: amountOut, quote: amountIn - fees, beyond: NOTHING_BEYOND, ...due }
}

const pay = (from: Payment["from"], to: Payment["to"], amount: bigint): Payment => ({ from, to, mint: SOL, amount })

const paymentsOf = (
  { curve, vault, protocolTill, creatorTill }: CurvePlaces,
  mint: Mint,
  { amountIn, amountOut }: Swap,
  { tokens, quote, beyond, protocolFee, creatorFee }: Trade
): ReadonlyArray<Payment> => {
  const bought: Payment = { from: vault, to: "trader", mint, amount: amountOut }
  if (beyond.tokens > 0n) {
    return [pay("trader", curve, amountIn), bought]
  }
  const payer = tokens > 0n ? "trader" : curve
  const fees = [pay(payer, protocolTill, protocolFee), pay(payer, creatorTill, creatorFee)]
  return tokens > 0n
    ? [pay("trader", curve, quote), bought, ...fees]
    : [{ from: "trader", to: vault, mint, amount: amountIn }, pay(curve, "trader", amountOut), ...fees]
}

/** Creates the accounts of a new coin's curve, which holds the coin's whole supply. */
const createCurve = (world: World, mint: Mint, creator: Address): CurvePlaces => {
  ensurePumpFees(world)
  const curve = curveOf(mint, world.derive)
  const vault = associatedAddress(world.derive, curve, mint, TOKEN_PROGRAM)
  world.newAccount(curve, PUMP_PROGRAM, newState(creator))
  world.newTokenAccount(vault, mint, curve)
  world.issue(vault, mint, curveStart.supply)
  return {
    curve,
    vault,
    mint,
    creator,
    protocolTill: till(world, "protocol"),
    creatorTill: till(world, `creator ${creator}`)
  }
}

export const newPumpCurve = (world: World, mint: Mint, creator: Address): LaunchCurve => {
  const { bank } = world
  const places = createCurve(world, mint, creator)
  const { curve: address, vault } = places
  const accounts = (wanted: Address) => bank.get(wanted) ?? null
  let seen: OnChainAccount | undefined
  let pool: Pool | null = null
  const current = (): Pool | null => {
    const account = bank.must(address)
    if (account !== seen) {
      const decoded = pumpCurve.decode(account, accounts, world.derive, mint)
      seen = account
      pool = isUnpriceable(decoded) ? null : decoded
    }
    return pool
  }

  const plan: SimPool["plan"] = (aToB, wanted, clock) => {
    const swap = current()?.swap(aToB, wanted, clock)
    if (swap === undefined || swap.ending === "refused" || swap.amountOut === 0n) {
      return null
    }
    const { data } = bank.must(address)
    const trade = (aToB ? sale : purchase)(data, swap)
    return {
      amountIn: swap.amountIn,
      amountOut: swap.amountOut,
      fee: 0n,
      payments: paymentsOf(places, mint, swap, trade),
      writes: [{ address, data: moved(data, trade) }]
    }
  }

  const field = (offset: number): bigint => readU64(bank.must(address).data, offset)
  const complete = () => bank.must(address).data[at.complete] === 1
  return {
    address,
    dex: pumpCurve.dex,
    programId: PUMP_PROGRAM,
    mintA: mint,
    mintB: SOL,
    open: () => !complete(),
    plan,
    call: pumpCurveCall(world, places),
    price: () => Number(field(at.virtualQuote)) / Number(field(at.virtualTokens)),
    depth: () => ({ a: Number(field(at.virtualTokens)), b: Number(field(at.virtualQuote)) }),
    complete,
    remains: () => ({
      tokens: { from: vault, amount: balanceOf(bank.must(vault)) },
      lamports: { from: address, amount: field(at.realQuote) + field(at.postCompleteQuote) }
    }),
    close: () => {
      const data = bank.must(address).data.slice()
      data.fill(0, at.virtualTokens, at.supply)
      bank.put({ ...bank.must(address), data })
    }
  }
}
