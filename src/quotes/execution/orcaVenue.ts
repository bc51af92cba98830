/** Swap instructions of Orca's Whirlpool. */
import { MAX_U64 } from "../../domain/Amount.ts"
import { readI32, readU16 } from "../../programs/layout/bytes.ts"
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { utf8 } from "../../programs/layout/pack.ts"
import { whirlpool } from "../../programs/orca/whirlpool.ts"
import {
  encodeWhirlpoolSwap,
  encodeWhirlpoolSwapOut,
  whirlpoolSwapV2Accounts
} from "../../programs/orca/whirlpoolInstructions.ts"
import {
  arraySequence,
  oracleAddress,
  whirlpoolArrayAddress,
  whirlpoolOffsets
} from "../../programs/orca/whirlpoolLayout.ts"
import { memoProgram, reads, signs, writes } from "../../programs/transactions/Call.ts"
import { sidesAt, tokenProgramOf, type Venue } from "./swapVenue.ts"

const sides = sidesAt(whirlpoolOffsets)

export const whirlpoolVenue: Venue = {
  program: whirlpool,
  swapNeeds: ({ derive, pool }) => [oracleAddress(derive, pool.address)],
  sides: ({ pool }) => sides(pool),
  vaultOwner: ({ pool }) => pool.address,
  obstacle: ({ derive, pool: { address, data } }) => {
    const { config, feeTierIndex, mintA, mintB } = whirlpoolOffsets
    const keys = [config, mintA, mintB].map((at) => data.subarray(at, at + 32))
    const own = derive(whirlpool.programId, [utf8("whirlpool"), ...keys, data.subarray(feeTierIndex, feeTierIndex + 2)])
    return own === address ? null : "its address is not derived from its program"
  },
  swap: (site, { aToB, amount, exactOut, from, to, trader }) => {
    const { derive, pool } = site
    const { mintA, mintB, vaultA, vaultB } = sides(pool)
    const [ownerA, ownerB] = aToB ? [from, to] : [to, from]
    const spacing = readU16(pool.data, whirlpoolOffsets.tickSpacing)
    const starts = arraySequence(readI32(pool.data, whirlpoolOffsets.tick), spacing, aToB)
    const last = starts.at(-1) ?? 0
    // The instruction names three arrays. When fewer lie ahead, the last one is repeated.
    const tickArray = (index: number) => writes(whirlpoolArrayAddress(derive, pool.address, starts[index] ?? last))
    return {
      accounts: inAccountOrder(whirlpoolSwapV2Accounts, {
        tokenProgramA: tokenProgramOf(site, mintA),
        tokenProgramB: tokenProgramOf(site, mintB),
        memoProgram,
        tokenAuthority: signs(trader),
        whirlpool: writes(pool.address),
        tokenMintA: reads(mintA),
        tokenMintB: reads(mintB),
        tokenOwnerAccountA: writes(ownerA),
        tokenVaultA: writes(vaultA),
        tokenOwnerAccountB: writes(ownerB),
        tokenVaultB: writes(vaultB),
        tickArray0: tickArray(0),
        tickArray1: tickArray(1),
        tickArray2: tickArray(2),
        oracle: writes(oracleAddress(derive, pool.address))
      }),
      data: exactOut
        ? encodeWhirlpoolSwapOut({ second: true, amountOut: amount, maximumIn: MAX_U64, aToB })
        : encodeWhirlpoolSwap({ second: true, amountIn: amount, minimumOut: 0n, aToB })
    }
  }
}
