/** Instructions, log lines and events of swaps on Raydium's programs. */
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { readI32, readU128 } from "../../programs/layout/bytes.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import {
  ammV4SwapAccounts,
  ammV4SwapV2Accounts,
  encodeAmmV4Swap,
  encodeAmmV4SwapLog
} from "../../programs/raydium/ammV4Instructions.ts"
import { AMM_V4_AUTHORITY } from "../../programs/raydium/ammV4Layout.ts"
import {
  clmmSwapAccounts,
  clmmSwapV2Accounts,
  encodeClmmSwap,
  clmmSwapEvent
} from "../../programs/raydium/clmmInstructions.ts"
import { clmmArrayAddress, clmmArraySpan, clmmArrayStart, clmmPoolOffsets } from "../../programs/raydium/clmmLayout.ts"
import { cpmmSwapAccounts, encodeCpmmSwap, cpmmSwapEvent } from "../../programs/raydium/cpmmInstructions.ts"
import { cpmmAuthority, cpmmUncollectedFees } from "../../programs/raydium/cpmmLayout.ts"
import type { Address } from "../../domain/Address.ts"
import { reads, signs, writes, memoProgram } from "../../programs/transactions/Call.ts"
import { afterTransferFee, type CalledPool } from "../chain/SimPool.ts"
import { dataAfter, directed, paidOut, type SwapCall, type Swapping } from "../chain/SwapCall.ts"
import { balanceOf } from "../chain/tokens.ts"
import type { World } from "../chain/World.ts"

const balance = (world: World, vault: Address): bigint => balanceOf(world.bank.must(vault))

/**
 * An account's balance before the swap. An account that wraps SOL exists only inside the transaction and holds the
 * input.
 */
const heldIn = (world: World, account: Address, amountIn: bigint): bigint => {
  const found = world.bank.get(account)
  return found === undefined ? amountIn : balanceOf(found)
}

/**
 * A swap through AMM v4. Even amounts use the first form of the instruction, which names an order book of
 * `marketProgram`.
 */
export const ammV4Call =
  (world: World, { address, vaults, part }: CalledPool, marketProgram: Address) =>
  (swap: Swapping): SwapCall => {
    const { trader, aToB, from, to, minimum } = swap
    const { amountIn } = swap.settlement
    const withMarket = amountIn % 2n === 0n
    const accounts = {
      tokenProgram: reads(TOKEN_PROGRAM),
      amm: writes(address),
      authority: reads(AMM_V4_AUTHORITY),
      openOrders: writes(part("open orders")),
      targetOrders: writes(part("target orders")),
      coinVault: writes(vaults.a),
      pcVault: writes(vaults.b),
      marketProgram: reads(marketProgram),
      market: writes(part("market")),
      bids: writes(part("bids")),
      asks: writes(part("asks")),
      eventQueue: writes(part("event queue")),
      marketCoinVault: writes(part("market coin vault")),
      marketPcVault: writes(part("market pc vault")),
      marketVaultSigner: reads(part("market vault signer")),
      userSource: writes(from),
      userDestination: writes(to),
      userOwner: signs(trader)
    }
    return {
      name: null,
      accounts: inAccountOrder(withMarket ? ammV4SwapAccounts : ammV4SwapV2Accounts, accounts),
      data: encodeAmmV4Swap({ withMarket, amountIn, minimumOut: minimum }),
      checked: false,
      before: encodeAmmV4SwapLog(aToB, {
        amountIn,
        minimumOut: minimum,
        userSource: heldIn(world, from, amountIn),
        poolCoin: balance(world, vaults.a),
        poolPc: balance(world, vaults.b),
        amountOut: paidOut(swap)
      }),
      units: 24_000
    }
  }

/** A swap through CPMM. Its event states the vaults without uncollected fees. */
export const cpmmCall =
  (world: World, { address, mints, vaults, part }: CalledPool, config: Address) =>
  (swap: Swapping): SwapCall => {
    const { trader, aToB, from, to, minimum } = swap
    const { amountIn, amountOut } = swap.settlement
    const mint = directed(aToB, mints.a, mints.b)
    const vault = directed(aToB, vaults.a, vaults.b)
    const token = directed<0 | 1>(aToB, 0, 1)
    const { data } = world.bank.must(address)
    const received = afterTransferFee(world, mint.input, amountIn)
    const paid = paidOut(swap)
    return {
      name: "SwapBaseInput",
      accounts: inAccountOrder(cpmmSwapAccounts, {
        payer: signs(trader),
        authority: reads(cpmmAuthority(world.derive)),
        ammConfig: reads(config),
        poolState: writes(address),
        inputTokenAccount: writes(from),
        outputTokenAccount: writes(to),
        inputVault: writes(vault.input),
        outputVault: writes(vault.output),
        inputTokenProgram: reads(world.bank.must(mint.input).owner),
        outputTokenProgram: reads(world.bank.must(mint.output).owner),
        inputTokenMint: reads(mint.input),
        outputTokenMint: reads(mint.output),
        observationState: writes(part("observation"))
      }),
      data: encodeCpmmSwap(amountIn, minimum),
      checked: true,
      logged: [
        cpmmSwapEvent.encode({
          pool: address,
          inputVaultBefore: balance(world, vault.input) - cpmmUncollectedFees(data, token.input),
          outputVaultBefore: balance(world, vault.output) - cpmmUncollectedFees(data, token.output),
          inputAmount: received,
          outputAmount: paid,
          inputTransferFee: amountIn - received,
          outputTransferFee: paid - amountOut,
          baseInput: true
        })
      ],
      units: 28_000
    }
  }

/** The existing arrays between two ticks, in the order that the price meets them. */
const arraysBetween = (world: World, pool: Address, spacing: number, from: number, to: number) => {
  const span = clmmArraySpan(spacing)
  const [first, last] = [clmmArrayStart(from, spacing), clmmArrayStart(to, spacing)]
  const count = Math.abs(last - first) / span + 1
  const starts = Array.from({ length: count }, (_, i) => first + Math.sign(last - first) * span * i)
  return starts
    .map((start) => clmmArrayAddress(world.derive, pool, start))
    .filter((address) => world.bank.get(address) !== undefined)
}

/** A swap through CLMM. Token-2022 tokens need `swap_v2`; every third of the other swaps uses it too. */
export const clmmCall =
  (world: World, { address, mints, vaults, part }: CalledPool, config: Address, spacing: number) =>
  (swap: Swapping): SwapCall => {
    const { trader, aToB, from, to, minimum } = swap
    const { amountIn, amountOut } = swap.settlement
    const mint = directed(aToB, mints.a, mints.b)
    const vault = directed(aToB, vaults.a, vaults.b)
    const before = world.bank.must(address).data
    const after = dataAfter(swap, address, before)
    const tick = readI32(after, clmmPoolOffsets.tick)
    const arrays = arraysBetween(world, address, spacing, readI32(before, clmmPoolOffsets.tick), tick)
    const second =
      amountIn % 3n === 0n || [mints.a, mints.b].some((one) => world.bank.must(one).owner === TOKEN_2022_PROGRAM)
    const received = afterTransferFee(world, mint.input, amountIn)
    const [amount0, transferFee0, amount1, transferFee1] = aToB
      ? [received, amountIn - received, amountOut, paidOut(swap) - amountOut]
      : [amountOut, paidOut(swap) - amountOut, received, amountIn - received]
    const accounts = {
      payer: signs(trader),
      ammConfig: reads(config),
      poolState: writes(address),
      inputTokenAccount: writes(from),
      outputTokenAccount: writes(to),
      inputVault: writes(vault.input),
      outputVault: writes(vault.output),
      observationState: writes(part("observation")),
      tokenProgram: reads(TOKEN_PROGRAM),
      tokenProgram2022: reads(TOKEN_2022_PROGRAM),
      memoProgram,
      inputVaultMint: reads(mint.input),
      outputVaultMint: reads(mint.output)
    }
    return {
      name: second ? "SwapV2" : "Swap",
      accounts: [...inAccountOrder(second ? clmmSwapV2Accounts : clmmSwapAccounts, accounts), ...arrays.map(writes)],
      data: encodeClmmSwap({ second, amountIn, minimumOut: minimum }),
      checked: second,
      logged: [
        clmmSwapEvent.encode({
          pool: address,
          sender: trader,
          tokenAccount0: aToB ? from : to,
          tokenAccount1: aToB ? to : from,
          amount0,
          transferFee0,
          amount1,
          transferFee1,
          zeroForOne: aToB,
          sqrtPrice: readU128(after, clmmPoolOffsets.sqrtPrice),
          liquidity: readU128(after, clmmPoolOffsets.liquidity),
          tick
        })
      ],
      units: 60_000
    }
  }
