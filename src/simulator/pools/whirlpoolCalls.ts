/** Instructions and events of swaps on Orca's program. */
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { readI32, readU128, readU16, readU64 } from "../../programs/layout/bytes.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import {
  encodeWhirlpoolSwap,
  whirlpoolTraded,
  whirlpoolSwapAccounts,
  whirlpoolSwapV2Accounts
} from "../../programs/orca/whirlpoolInstructions.ts"
import {
  arrayStart,
  oracleAddress,
  TICKS_IN_ARRAY,
  whirlpoolArrayAddress,
  whirlpoolOffsets,
  whirlpoolSwapCounters
} from "../../programs/orca/whirlpoolLayout.ts"
import { reads, signs, writes, memoProgram } from "../../programs/transactions/Call.ts"
import { afterTransferFee, type CalledPool } from "../chain/SimPool.ts"
import { dataAfter, directed, paidOut, type SwapCall, type Swapping } from "../chain/SwapCall.ts"
import type { World } from "../chain/World.ts"

/** A swap. Token-2022 tokens need `swap_v2`; every third of the other swaps uses it too. */
export const whirlpoolCall =
  (world: World, pool: CalledPool) =>
  (swap: Swapping): SwapCall => {
    const { address, mints, vaults } = pool
    const { trader, aToB, from, to, minimum } = swap
    const { amountIn, amountOut } = swap.settlement
    const before = world.bank.must(address).data
    const after = dataAfter(swap, address, before)
    const [tokenProgramA, tokenProgramB] = [world.bank.must(mints.a).owner, world.bank.must(mints.b).owner]
    const second = amountIn % 3n === 0n || [tokenProgramA, tokenProgramB].includes(TOKEN_2022_PROGRAM)
    const [ownerA, ownerB] = aToB ? [from, to] : [to, from]
    const spacing = readU16(before, whirlpoolOffsets.tickSpacing)
    const firstArray = arrayStart(readI32(before, whirlpoolOffsets.tick), spacing)
    // The instruction names three arrays in the swap's direction, starting at the price, whether or not they exist.
    const tickArray = (index: number) =>
      writes(
        whirlpoolArrayAddress(world.derive, address, firstArray + (aToB ? -index : index) * TICKS_IN_ARRAY * spacing)
      )
    const received = afterTransferFee(world, directed(aToB, mints.a, mints.b).input, amountIn)
    const paid = paidOut(swap)
    const feeAt = (aToB ? whirlpoolSwapCounters.a : whirlpoolSwapCounters.b).protocolFee
    const protocolFee = readU64(after, feeAt) - readU64(before, feeAt)
    const accounts = {
      tokenProgram: reads(TOKEN_PROGRAM),
      tokenProgramA: reads(tokenProgramA),
      tokenProgramB: reads(tokenProgramB),
      memoProgram,
      tokenAuthority: signs(trader),
      whirlpool: writes(address),
      tokenMintA: reads(mints.a),
      tokenMintB: reads(mints.b),
      tokenOwnerAccountA: writes(ownerA),
      tokenVaultA: writes(vaults.a),
      tokenOwnerAccountB: writes(ownerB),
      tokenVaultB: writes(vaults.b),
      tickArray0: tickArray(0),
      tickArray1: tickArray(1),
      tickArray2: tickArray(2),
      oracle: writes(oracleAddress(world.derive, address))
    }
    return {
      name: second ? "SwapV2" : "Swap",
      accounts: inAccountOrder(second ? whirlpoolSwapV2Accounts : whirlpoolSwapAccounts, accounts),
      data: encodeWhirlpoolSwap({ second, amountIn, minimumOut: minimum, aToB }),
      checked: second,
      logged: [
        whirlpoolTraded.encode({
          pool: address,
          aToB,
          sqrtPriceBefore: readU128(before, whirlpoolOffsets.sqrtPrice),
          sqrtPriceAfter: readU128(after, whirlpoolOffsets.sqrtPrice),
          inputAmount: amountIn,
          outputAmount: paid,
          inputTransferFee: amountIn - received,
          outputTransferFee: paid - amountOut,
          lpFee: swap.settlement.fee - protocolFee,
          protocolFee
        })
      ],
      units: 50_000
    }
  }
