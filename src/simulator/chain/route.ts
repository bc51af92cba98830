/** Calls of Jupiter's aggregator. Each leg is one inner call. */
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { ANCHOR_SWAP_V2, tagAt, tagOf } from "../../programs/layout/anchor.ts"
import {
  encodeRoute,
  encodeRouteSwapEvent,
  JUPITER_PROGRAM as JUPITER,
  routeAccounts
} from "../../programs/jupiter/route.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { type Call, reads, programLog, signs, writes } from "../../programs/transactions/Call.ts"
import { eventAuthority } from "../../programs/layout/anchorEvents.ts"
import { selfCall } from "./SwapCall.ts"
import type { World } from "./World.ts"

const SLIPPAGE_BPS = 50
const SWAP_V2 = tagOf(ANCHOR_SWAP_V2)

/** One executed leg of a route. */
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

/** A route's single instruction. */
export const routeCall = (
  world: World,
  wallet: Address,
  legs: readonly [Leg, ...ReadonlyArray<Leg>],
  accounts: { readonly source: Address; readonly destination: Address }
): Call => {
  const [first] = legs
  const last = legs.at(-1) ?? first
  const authority = eventAuthority(world.derive, JUPITER)
  const plan = legs.map(({ dex, aToB, call }) => ({ dex, aToB, second: tagAt(call.data, 0) === SWAP_V2 }))
  const eventOf = ({ call, ...leg }: Leg) => encodeRouteSwapEvent({ program: call.program, ...leg })
  return {
    program: JUPITER,
    accounts: [
      ...inAccountOrder(routeAccounts, {
        tokenProgram: reads(TOKEN_PROGRAM),
        userTransferAuthority: signs(wallet),
        userSourceTokenAccount: writes(accounts.source),
        userDestinationTokenAccount: writes(accounts.destination),
        destinationTokenAccount: reads(JUPITER),
        destinationMint: reads(last.outputMint),
        platformFeeAccount: reads(JUPITER),
        eventAuthority: reads(authority),
        program: reads(JUPITER)
      }),
      ...legs.flatMap(({ call }) => [reads(call.program), ...call.accounts])
    ],
    data: encodeRoute(plan, first.amountIn, last.amountOut, SLIPPAGE_BPS),
    steps: [
      programLog("Instruction: Route"),
      ...legs.flatMap((leg) => [leg.call, selfCall(JUPITER, authority, eventOf(leg))])
    ],
    units: 20_000
  }
}
