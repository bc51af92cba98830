/** Swaps through an aggregator: jup-ag's program as its public IDL has it, with one inner call for each leg. */
import { ANCHOR_SWAP_EVENT, ANCHOR_SWAP_V2 } from "../../programs/anchor.ts"
import { Address, type Mint } from "../../domain/Address.ts"
import { TOKEN_PROGRAM } from "../../programs/math/tokenAccount.ts"
import { type Call, reads, says, signs, writes } from "./Call.ts"
import { eventAuthority } from "../../programs/anchorEvents.ts"
import { hex, key, pack, u16, u32, u64, u8 } from "../../programs/math/pack.ts"
import { selfCall } from "./SwapCall.ts"
import type { World } from "./World.ts"

const JUPITER = Address.make("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")
const SLIPPAGE_BPS = 50
const ROUTE = "e517cb977ae3ad2a"

/** One leg of a route, carried out. */
export interface Leg {
  readonly dex: string
  readonly pool: Address
  readonly aToB: boolean
  readonly call: Call
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amountIn: bigint
  readonly amountOut: bigint
}

/** How the route's plan spells a venue; null for venues that are not routed through. */
const venueOf = ({ dex, aToB, call }: Pick<Leg, "dex" | "aToB" | "call">): Uint8Array | null => {
  const direction = u8(aToB ? 1 : 0)
  const second = Buffer.from(call.data.subarray(0, 8)).toString("hex") === ANCHOR_SWAP_V2
  switch (dex) {
    case "raydium-amm-v4":
      return u8(7)
    case "orca-whirlpool":
      return second ? pack(u8(47), direction, u8(0)) : pack(u8(17), direction)
    case "raydium-clmm":
      return u8(second ? 40 : 26)
    case "meteora-dlmm":
      return u8(38)
    case "raydium-cpmm":
      return u8(46)
    default:
      return null
  }
}

/** Whether pools of this venue are routed through. */
export const isRouted = (dex: string): boolean =>
  ["raydium-amm-v4", "orca-whirlpool", "raydium-clmm", "meteora-dlmm", "raydium-cpmm"].includes(dex)

/** The one instruction that a route is. */
export const routeCall = (
  world: World,
  wallet: Address,
  legs: readonly [Leg, ...ReadonlyArray<Leg>],
  accounts: { readonly source: Address; readonly destination: Address }
): Call => {
  const [first] = legs
  const last = legs.at(-1) ?? first
  const authority = eventAuthority(world.derive, JUPITER)
  const plan = legs.flatMap((leg, index) => [venueOf(leg) ?? u8(7), u8(100), u8(index), u8(index + 1)])
  const event = ({ call, inputMint, amountIn, outputMint, amountOut }: Leg) =>
    pack(hex(ANCHOR_SWAP_EVENT), key(call.program), key(inputMint), u64(amountIn), key(outputMint), u64(amountOut))
  return {
    program: JUPITER,
    accounts: [
      reads(TOKEN_PROGRAM),
      signs(wallet),
      writes(accounts.source),
      writes(accounts.destination),
      reads(JUPITER),
      reads(last.outputMint),
      reads(JUPITER),
      reads(authority),
      reads(JUPITER),
      ...legs.flatMap(({ call }) => [reads(call.program), ...call.accounts])
    ],
    data: pack(
      hex(ROUTE),
      u32(legs.length),
      ...plan,
      u64(first.amountIn),
      u64(last.amountOut),
      u16(SLIPPAGE_BPS),
      u8(0)
    ),
    steps: [says("Instruction: Route"), ...legs.flatMap((leg) => [leg.call, selfCall(JUPITER, authority, event(leg))])],
    units: 20_000
  }
}
