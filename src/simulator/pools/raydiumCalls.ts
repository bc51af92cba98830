/**
 * Swaps as Raydium's programs are called and as they tell of them: raydium-amm, program/src/{instruction,log}.rs;
 * raydium-cp-swap, programs/cp-swap/src/{instructions/swap_base_input,states/events}.rs; raydium-clmm,
 * programs/amm/src/{instructions/swap,instructions/swap_v2,states/pool}.rs.
 */
import { readI32, readU128 } from "../../programs/math/bytes.ts"
import { clmmArrayAddress, clmmArraySpan, clmmArrayStart, clmmPoolOffsets } from "../../programs/raydium/clmmLayout.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/math/tokenAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { type AccountRef, reads, signs, writes } from "../chain/Call.ts"
import { bool, hex, i32, key, pack, u128, u64, u8 } from "../../programs/math/pack.ts"
import { afterTransferFee, type CalledPool } from "../chain/SimPool.ts"
import { memoProgram } from "../chain/standardCalls.ts"
import { dataAfter, directed, paidOut, type SwapCall, type Swapping } from "../chain/SwapCall.ts"
import { balanceOf } from "../chain/tokens.ts"
import type { World } from "../chain/World.ts"

const balance = (world: World, vault: Address): bigint => balanceOf(world.bank.must(vault))

/** What an account holds before the swap: one that wraps SOL does not exist outside of the transaction, and holds the input. */
const heldIn = (world: World, account: Address, amountIn: bigint): bigint => {
  const found = world.bank.get(account)
  return found === undefined ? amountIn : balanceOf(found)
}

const RAY_LOG_SWAP_IN = 3
const MARKET_PARTS = ["bids", "asks", "event queue", "market coin vault", "market pc vault"]

/** The first form of the instruction names an order book; the second one does without. */
export const ammV4Call =
  (world: World, { address, vaults, part }: CalledPool, authority: Address, openBook: Address) =>
  (swap: Swapping): SwapCall => {
    const { trader, aToB, from, to, minimum } = swap
    const { amountIn } = swap.settlement
    const withMarket = amountIn % 2n === 0n
    const log = pack(
      u8(RAY_LOG_SWAP_IN),
      u64(amountIn),
      u64(minimum),
      u64(aToB ? 2n : 1n),
      u64(heldIn(world, from, amountIn)),
      u64(balance(world, vaults.a)),
      u64(balance(world, vaults.b)),
      u64(paidOut(swap))
    )
    const market = [
      reads(openBook),
      writes(part("market")),
      ...MARKET_PARTS.map((name) => writes(part(name))),
      reads(part("market vault signer"))
    ]
    return {
      name: null,
      accounts: [
        reads(TOKEN_PROGRAM),
        writes(address),
        reads(authority),
        ...(withMarket ? [writes(part("open orders")), writes(part("target orders"))] : []),
        writes(vaults.a),
        writes(vaults.b),
        ...(withMarket ? market : []),
        writes(from),
        writes(to),
        signs(trader)
      ],
      data: pack(u8(withMarket ? 9 : 16), u64(amountIn), u64(minimum)),
      checked: false,
      before: `ray_log: ${Buffer.from(log).toString("base64")}`,
      units: 24_000
    }
  }

/** `owed` is what lies in a vault without being liquidity: the event does not count it. */
export const cpmmCall =
  (
    world: World,
    { address, mints, vaults, part }: CalledPool,
    places: { readonly authority: Address; readonly config: Address; readonly owed: (token: 0 | 1) => bigint }
  ) =>
  (swap: Swapping): SwapCall => {
    const { trader, aToB, from, to, minimum } = swap
    const { amountIn, amountOut } = swap.settlement
    const mint = directed(aToB, mints.a, mints.b)
    const vault = directed(aToB, vaults.a, vaults.b)
    const token = directed<0 | 1>(aToB, 0, 1)
    const received = afterTransferFee(world, mint.input, amountIn)
    const paid = paidOut(swap)
    return {
      name: "SwapBaseInput",
      accounts: [
        signs(trader),
        reads(places.authority),
        reads(places.config),
        writes(address),
        writes(from),
        writes(to),
        writes(vault.input),
        writes(vault.output),
        reads(world.bank.must(mint.input).owner),
        reads(world.bank.must(mint.output).owner),
        reads(mint.input),
        reads(mint.output),
        writes(part("observation"))
      ],
      data: pack(hex("8fbe5adac41e33de"), u64(amountIn), u64(minimum)),
      checked: true,
      logged: pack(
        hex("40c6cde8260871e2"),
        key(address),
        u64(balance(world, vault.input) - places.owed(token.input)),
        u64(balance(world, vault.output) - places.owed(token.output)),
        u64(received),
        u64(paid),
        u64(amountIn - received),
        u64(paid - amountOut),
        bool(true)
      ),
      units: 28_000
    }
  }

/** The arrays that the price passes on its way, in its order. */
const arraysBetween = (world: World, pool: Address, spacing: number, from: number, to: number) => {
  const span = clmmArraySpan(spacing)
  const [first, last] = [clmmArrayStart(from, spacing), clmmArrayStart(to, spacing)]
  const count = Math.abs(last - first) / span + 1
  const starts = Array.from({ length: count }, (_, i) => first + Math.sign(last - first) * span * i)
  return starts
    .map((start) => clmmArrayAddress(world.derive, pool, start))
    .filter((address) => world.bank.get(address) !== undefined)
}

/** Tokens of the second token program need the second form of the instruction; every third of the others takes it too. */
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
    const amounts = directed(
      aToB,
      { net: received, fee: amountIn - received },
      { net: amountOut, fee: paidOut(swap) - amountOut }
    )
    const accounts: ReadonlyArray<AccountRef> = [
      signs(trader),
      reads(config),
      writes(address),
      writes(from),
      writes(to),
      writes(vault.input),
      writes(vault.output),
      writes(part("observation")),
      reads(TOKEN_PROGRAM),
      ...(second ? [reads(TOKEN_2022_PROGRAM), memoProgram, reads(mint.input), reads(mint.output)] : []),
      ...arrays.map(writes)
    ]
    return {
      name: second ? "SwapV2" : "Swap",
      accounts,
      data: pack(
        hex(second ? "2b04ed0b1ac91e62" : "f8c69e91e17587c8"),
        u64(amountIn),
        u64(minimum),
        u128(0n),
        bool(true)
      ),
      checked: second,
      logged: pack(
        hex("40c6cde8260871e2"),
        ...[address, trader, aToB ? from : to, aToB ? to : from].map(key),
        u64(amounts.input.net),
        u64(amounts.input.fee),
        u64(amounts.output.net),
        u64(amounts.output.fee),
        bool(aToB),
        u128(readU128(after, clmmPoolOffsets.sqrtPrice)),
        u128(readU128(after, clmmPoolOffsets.liquidity)),
        i32(tick)
      ),
      units: 60_000
    }
  }
