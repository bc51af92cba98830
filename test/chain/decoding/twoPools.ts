/** Routes over two pools, one of USDC and SOL, one of SOL and the token. */
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import { raydiumAmmV4 } from "../../../src/programs/raydium/ammV4.ts"
import { Address, type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import { type DecodedTrades, decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import {
  accountsAt,
  bytesOf,
  type Call,
  type Holding,
  named,
  type Plan,
  TOKEN,
  TRADER,
  transactionOf,
  transfer
} from "./transactions.ts"

const JUPITER = Address.make("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")
/** The signer who fills orders of others. */
export const KEEPER = named("keeper")

/** A token account, by the names of its owner and its mint. What it held does not matter to a route. */
export const held = (owner: Address, name: string, mint: Mint, program?: Address): Holding => ({
  address: named(name),
  mint,
  owner,
  decimals: mint === SOL ? 9 : 6,
  before: 1_000_000n,
  after: 1_000_000n,
  ...(program !== undefined && { program })
})

export const holdings: ReadonlyArray<Holding> = [
  held(TRADER, "my usdc", USDC),
  held(TRADER, "my sol", SOL),
  held(TRADER, "my token", TOKEN),
  held(named("pool a"), "a usdc", USDC),
  held(named("pool a"), "a sol", SOL),
  held(named("pool b"), "b sol", SOL),
  held(named("pool b"), "b token", TOKEN),
  held(KEEPER, "keeper usdc", USDC),
  held(KEEPER, "keeper sol", SOL),
  held(KEEPER, "keeper token", TOKEN),
  held(named("router"), "router usdc", USDC),
  held(named("router"), "router sol", SOL),
  held(named("router"), "router token", TOKEN),
  held(named("order"), "order usdc", USDC)
]

/**
 * A swap in a pool with two vaults. The input goes from an account into one vault, and the output from the other vault
 * to an account.
 */
export const dlmmSwap = (from: string, authority: Address, to: string, amountIn: bigint, amountOut: bigint): Call => ({
  program: meteoraDlmm.programId,
  accounts: accountsAt(17, { 0: named("pool a"), 2: named("a usdc"), 3: named("a sol") }),
  data: bytesOf("f8c69e91e17587c8", new Uint8Array(16)),
  calls: [
    transfer(named(from), named("a usdc"), authority, amountIn),
    transfer(named("a sol"), named(to), named("pool a"), amountOut)
  ]
})

export const raydiumSwap = (
  from: string,
  authority: Address,
  to: string,
  amountIn: bigint,
  amountOut: bigint
): Call => ({
  program: raydiumAmmV4.programId,
  accounts: accountsAt(17, { 1: named("pool b"), 4: named("b sol"), 5: named("b token") }),
  data: bytesOf("09", new Uint8Array(16)),
  calls: [
    transfer(named(from), named("b sol"), authority, amountIn),
    transfer(named("b token"), named(to), named("pool b"), amountOut)
  ]
})

export const program = (
  address: Address,
  accounts: ReadonlyArray<Address>,
  tag: string,
  calls: ReadonlyArray<Call>
): Call => ({
  program: address,
  accounts,
  data: bytesOf(tag, new Uint8Array(8)),
  calls
})

export const jupiter = (calls: ReadonlyArray<Call>): Call => program(JUPITER, [TRADER], "e517cb977ae3ad2a", calls)

export const decode = (calls: ReadonlyArray<Call>, more: Partial<Plan> = {}): DecodedTrades =>
  decodeTrades(transactionOf({ signers: [TRADER], calls, holdings, ...more }))

/** The trades in short: wallet, side, token, quote, and the legs. */
export const tradesOf = ({
  legs,
  nets
}: DecodedTrades): Readonly<Record<"legs" | "nets", ReadonlyArray<ReadonlyArray<unknown>>>> => ({
  legs: legs.map(({ wallet, side, token, quote }) => [
    wallet,
    side,
    token.amount,
    token.mint,
    quote.amount,
    quote.mint
  ]),
  nets: nets.map(({ wallet, side, token, quote, legs: parts }) => [
    wallet,
    side,
    token.amount,
    token.mint,
    quote.amount,
    quote.mint,
    parts
  ])
})

export const USDC_TO_SOL = (wallet: Address) => [wallet, "buy", 200n, SOL, 1000n, USDC]
export const SOL_TO_TOKEN = (wallet: Address) => [wallet, "buy", 50n, TOKEN, 200n, SOL]
