/** Jupiter's aggregator, which routes through pools of several programs. Layout: the program's public IDL. */
import { Address, type Mint } from "../../domain/Address.ts"
import { ANCHOR_SWAP_EVENT } from "../layout/anchor.ts"
import { hex, key, pack, u16, u32, u64, u8 } from "../layout/pack.ts"

const ROUTE = "e517cb977ae3ad2a"

/** The newest version of the program. */
export const JUPITER_PROGRAM = Address.make("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")

/** Every version of the program. A swap through one of them is a trade even when none of its pools is decoded. */
export const jupiterPrograms: ReadonlySet<Address> = new Set([
  JUPITER_PROGRAM,
  Address.make("JUP4Fb2cqiRUcaTHdrPC8h2gNsA2ETXiPDD33WcGuJB"),
  Address.make("JUP3c2Uh3WA4Ng34tw6kPd2G4C5BB21Xo36Je1s32Ph"),
  Address.make("JUP2jxvXaqu7NQY1GmNF4m1vodw12LVXYxbFL2uJvfo")
])

/**
 * The first accounts of `route`. They are followed by each leg's program and accounts. For an optional account that
 * is left out, the program itself is passed.
 */
export const routeAccounts = [
  "tokenProgram",
  "userTransferAuthority",
  "userSourceTokenAccount",
  "userDestinationTokenAccount",
  "destinationTokenAccount",
  "destinationMint",
  "platformFeeAccount",
  "eventAuthority",
  "program"
] as const

/** The venue codes in a route's plan, by venue label. A second version of a swap instruction has its own code. */
const venueCodes: ReadonlyMap<string, { readonly first: number; readonly second: number }> = new Map([
  ["raydium-amm-v4", { first: 7, second: 7 }],
  ["orca-whirlpool", { first: 17, second: 47 }],
  ["raydium-clmm", { first: 26, second: 40 }],
  ["meteora-dlmm", { first: 38, second: 38 }],
  ["raydium-cpmm", { first: 46, second: 46 }]
])

/** True when a route can go through pools of this venue. */
export const isRouted = (dex: string): boolean => venueCodes.has(dex)

/** One leg of a route's plan. */
export interface RouteLeg {
  readonly dex: string
  readonly aToB: boolean
  /** True when the leg calls the second version of the pool's swap. */
  readonly second: boolean
}

const venueOf = ({ dex, aToB, second }: RouteLeg): Uint8Array => {
  const codes = venueCodes.get(dex)
  const code = u8((second ? codes?.second : codes?.first) ?? 7)
  // Only Whirlpool legs state a direction. In the second version they also state a count of further accounts.
  return dex === "orca-whirlpool" ? pack(code, u8(aToB ? 1 : 0), ...(second ? [u8(0)] : [])) : code
}

/**
 * The data of `route`. The legs follow each other; each takes the whole output of the previous leg. There is no
 * platform fee.
 */
export const encodeRoute = (
  legs: ReadonlyArray<RouteLeg>,
  amountIn: bigint,
  quotedOut: bigint,
  slippageBps: number
): Uint8Array =>
  pack(
    hex(ROUTE),
    u32(legs.length),
    ...legs.flatMap((leg, index) => [venueOf(leg), u8(100), u8(index), u8(index + 1)]),
    u64(amountIn),
    u64(quotedOut),
    u16(slippageBps),
    u8(0)
  )

/** Encodes the event `SwapEvent` of one leg. */
export const encodeRouteSwapEvent = (leg: {
  readonly program: Address
  readonly inputMint: Mint
  readonly amountIn: bigint
  readonly outputMint: Mint
  readonly amountOut: bigint
}): Uint8Array =>
  pack(
    hex(ANCHOR_SWAP_EVENT),
    key(leg.program),
    key(leg.inputMint),
    u64(leg.amountIn),
    key(leg.outputMint),
    u64(leg.amountOut)
  )
