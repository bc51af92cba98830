/** Every trade of some blocks, valued at the SOL price of its block. */
import type { RawBlock, RawTransaction } from "./chain.ts"
import { liquidityOf, type RawLiquidity } from "./liquidity.ts"
import { launchesOf, type RawLaunch } from "./launches.ts"
import { legsOf, type RawLeg, readTransaction, SOL } from "./legs.ts"
import { netsOf, type RawNet, unexplainedOf } from "./nets.ts"
import { type Fraction, makeSolPrice, type SolSwap } from "./solPrice.ts"
import { makeTokenPrice, type MoneySwap, type PricedMint, solNanosOf } from "./tokenPrice.ts"
import { supplyChangeOf } from "./transfers.ts"

/** Mints that count as a dollar, the first before the others. */
export const DOLLARS: ReadonlyArray<string> = [
  "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
  "USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB",
  "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo"
]

interface Side {
  readonly mint: string
  readonly amount: bigint
}

/** A trade of a token, in pools or of a wallet. Unknown values are null. */
export interface Valued {
  readonly slot: number
  readonly second: number
  readonly wallet: string
  readonly mint: string
  readonly isBuy: boolean
  readonly amount: bigint
  /** The other side where it was SOL. */
  readonly lamports: bigint | null
  readonly usdNanos: bigint | null
}

/** A swap of a pool. */
export interface PoolTrade extends Valued {
  readonly program: string
  readonly pool: string
  readonly vaults: ReadonlyArray<string>
  readonly price: number | null
  readonly priceSol: number | null
  /** Its worth in lamports, whatever it was paid in. */
  readonly worth: bigint | null
}

/** A mint or a burn. */
export interface SupplyChange {
  readonly slot: number
  readonly second: number
  readonly mint: string
  readonly change: bigint
}

/** Everything that some blocks hold, in the order of the chain. */
export interface TradeRecord {
  readonly pools: Array<PoolTrade>
  readonly wallets: Array<Valued>
  readonly launches: Array<RawLaunch & { readonly second: number; readonly slot: number }>
  readonly supply: Array<SupplyChange>
  readonly liquidity: Array<RawLiquidity & { readonly second: number; readonly slot: number }>
  readonly decimals: Map<string, number>
  /** Mints whose swaps have no value that the chain gives, or that programs without a known swap moved. */
  readonly unknown: Set<string>
  readonly unexplained: Set<string>
}

/** A record without a block. */
export const emptyRecord = (): TradeRecord => ({
  pools: [],
  wallets: [],
  launches: [],
  supply: [],
  liquidity: [],
  decimals: new Map(),
  unknown: new Set(),
  unexplained: new Set()
})

const rank = (mint: string): number => (mint === SOL ? 1 : DOLLARS.includes(mint) ? 10 - DOLLARS.indexOf(mint) : 0)

const isMoney = (mint: string): boolean => rank(mint) > 0

/** The token is the side that is less of a money; of two alike the one that was received. */
export const sided = (input: Side, output: Side) =>
  rank(output.mint) > rank(input.mint)
    ? { isBuy: false, token: input, quote: output }
    : { isBuy: true, token: output, quote: input }

/** Prices of a block: micro-dollars for a lamport, and the better known price of two tokens. */
interface BlockPrices {
  readonly sol: Fraction | null
  readonly betterOf: (a: string, b: string) => PricedMint | null
}

const DOLLAR: Fraction = { numerator: 1n, denominator: 1n }

/** Micro-dollars for the smallest unit of a quote: of a token not by the price that only the other one gives. */
const quotePriceOf = (quote: Side, token: Side, { betterOf, sol }: BlockPrices): Fraction | null => {
  if (isMoney(quote.mint)) {
    return quote.mint === SOL ? sol : DOLLAR
  }
  const better = betterOf(quote.mint, token.mint)
  return better?.mint === quote.mint ? better.price : null
}

/** Nano-dollars of a swap of two tokens by the better known price of one of them, rounded down. */
const nanosOfTwo = (quote: Side, token: Side, { betterOf }: BlockPrices): bigint | null => {
  const better = betterOf(quote.mint, token.mint)
  const { amount } = better?.mint === quote.mint ? quote : token
  return better === null ? null : (amount * better.price.numerator * 1000n) / better.price.denominator
}

/** Nano-dollars of an amount of money, rounded down; null when the price of SOL is unknown. */
const nanosOf = ({ amount, mint }: Side, sol: Fraction | null): bigint | null => {
  if (mint !== SOL) {
    return isMoney(mint) ? amount * 1000n : null
  }
  return sol === null ? null : (amount * sol.numerator * 1000n) / sol.denominator
}

const ratio = (numerator: bigint, denominator: bigint): number | null => {
  if (numerator <= 0n || denominator <= 0n) {
    return null
  }
  // Enough digits for a double, whatever the size of the two.
  const shift = BigInt(Math.max(0, 25 + String(denominator).length - String(numerator).length))
  return Number((numerator * 10n ** shift) / denominator) / 10 ** Number(shift)
}

/** The trade of a leg at the prices of its block. `decimals` are the token's. */
export const poolTrade = (
  leg: RawLeg,
  at: Pick<Valued, "second" | "slot">,
  decimals: number,
  prices: BlockPrices
): PoolTrade => {
  const { isBuy, quote, token } = sided(leg.input, leg.output)
  const usdNanos = isMoney(quote.mint) ? nanosOf(quote, prices.sol) : nanosOfTwo(quote, token, prices)
  const solNanos = solNanosOf(prices.sol) ?? 0n
  const lamports = quote.mint === SOL ? quote.amount : null
  const unit = 10n ** BigInt(decimals)
  const each = quotePriceOf(quote, token, prices)
  const price = each && ratio(quote.amount * unit * each.numerator, token.amount * each.denominator * 1_000_000n)
  const inSol = price === null || solNanos === 0n ? null : price / (Number(solNanos) / 1e9)
  const worth = usdNanos === null || solNanos === 0n ? null : (usdNanos * 1_000_000_000n) / solNanos
  return {
    ...at,
    program: leg.program,
    pool: leg.pool,
    vaults: leg.vaults,
    wallet: leg.wallet,
    mint: token.mint,
    isBuy,
    amount: token.amount,
    lamports,
    usdNanos,
    price,
    priceSol:
      token.mint === SOL ? 1 : lamports === null ? inSol : ratio(lamports * unit, token.amount * 1_000_000_000n),
    worth: token.mint === SOL ? token.amount : (lamports ?? worth)
  }
}

/** The money that the pools of a route took or paid for exactly this amount of a token; null when it is unknown. */
const moneyFor = ({ amount, mint }: Side, isBuy: boolean, legs: ReadonlyArray<RawLeg>): Side | null => {
  const found = legs
    .map(({ input, output, received, sent }) => ({ ...sided(input, output), moved: isBuy ? received : sent }))
    .filter(({ token, ...leg }) => token.mint === mint && leg.isBuy === isBuy)
  const [first] = found
  const sum = found.reduce((total, { moved }) => total + moved, 0n)
  return first === undefined || !isMoney(first.quote.mint) || sum !== amount
    ? null
    : { mint: first.quote.mint, amount: found.reduce((total, { quote }) => total + quote.amount, 0n) }
}

const walletTrades = (net: RawNet, at: Pick<Valued, "second" | "slot">, prices: BlockPrices): ReadonlyArray<Valued> => {
  const { isBuy, quote, token } = sided(net.gave, net.got)
  const of = { ...at, wallet: net.wallet }
  if (isMoney(quote.mint)) {
    const lamports = quote.mint === SOL ? quote.amount : null
    return [{ ...of, mint: token.mint, isBuy, amount: token.amount, lamports, usdNanos: nanosOf(quote, prices.sol) }]
  }
  const money = moneyFor(net.gave, false, net.legs) ?? moneyFor(net.got, true, net.legs)
  const value = {
    lamports: money?.mint === SOL ? money.amount : null,
    usdNanos: money === null ? nanosOfTwo(quote, token, prices) : nanosOf(money, prices.sol)
  }
  return [
    { ...of, ...value, mint: net.got.mint, isBuy: true, amount: net.got.amount },
    { ...of, ...value, mint: net.gave.mint, isBuy: false, amount: net.gave.amount }
  ]
}

const decimalsIn = ({ meta }: RawTransaction): ReadonlyArray<readonly [string, number]> =>
  [...meta.preTokenBalances, ...meta.postTokenBalances].map(({ mint, uiTokenAmount }) => [mint, uiTokenAmount.decimals])

/** Swaps of SOL against dollars among legs, which price SOL. */
export const solSwapsOf = (legs: ReadonlyArray<RawLeg>, second: number): ReadonlyArray<SolSwap> =>
  legs
    .map(({ input, output }) => sided(input, output))
    .filter(({ quote, token }) => token.mint === SOL && rank(quote.mint) > 1)
    .map(({ quote, token }) => ({ second, micros: quote.amount, lamports: token.amount }))

/** Swaps of tokens against SOL or dollars among legs, which price the tokens. */
export const moneySwapsOf = (legs: ReadonlyArray<RawLeg>, second: number): ReadonlyArray<MoneySwap> =>
  legs
    .map(({ input, output }) => sided(input, output))
    .filter(({ quote, token }) => isMoney(quote.mint) && !isMoney(token.mint))
    .map(({ quote, token }) => ({
      mint: token.mint,
      second,
      units: token.amount,
      money: quote.amount,
      isSol: quote.mint === SOL
    }))

/** Adds blocks to a record, one after the other: swaps of SOL price the blocks that follow. */
export const makeReader = (record: TradeRecord) => {
  const price = makeSolPrice()
  const tokens = makeTokenPrice()
  return ({ blockTime, slot, transactions }: RawBlock): void => {
    const at = { slot, second: blockTime }
    const read = transactions.filter(({ meta }) => meta.err === null).map((raw) => readTransaction(raw))
    const traded = read.map((each) => ({ read: each, legs: legsOf(each) }))
    price.add(traded.flatMap(({ legs }) => solSwapsOf(legs, blockTime)))
    tokens.add(traded.flatMap(({ legs }) => moneySwapsOf(legs, blockTime)))
    const sol = price.at(blockTime)
    const prices: BlockPrices = { sol, betterOf: (a, b) => tokens.betterOf(a, b, blockTime, sol) }
    for (const { legs, read: transaction } of traded) {
      decimalsIn(transaction.raw).forEach(([mint, digits]) => record.decimals.set(mint, digits))
      for (const leg of legs) {
        const trade = poolTrade(leg, at, record.decimals.get(sided(leg.input, leg.output).token.mint) ?? 0, prices)
        record.pools.push(trade)
        if (trade.usdNanos === null && trade.lamports === null) {
          record.unknown.add(trade.mint)
        }
      }
      record.wallets.push(...netsOf(transaction, legs).flatMap((net) => walletTrades(net, at, prices)))
      record.launches.push(...launchesOf(transaction).map((launch) => ({ ...launch, ...at })))
      record.liquidity.push(...liquidityOf(transaction).map((change) => ({ ...change, ...at })))
      unexplainedOf(transaction, legs).forEach((mint) => record.unexplained.add(mint))
      for (const { instruction } of transaction.invocations) {
        const change = supplyChangeOf(instruction, transaction.keys)
        record.supply.push(...(change === null ? [] : [{ ...at, ...change }]))
      }
    }
  }
}
