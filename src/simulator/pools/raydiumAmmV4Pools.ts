/** Raydium AMM v4 pools as the program writes them: raydium-io/raydium-amm, program/src/state.rs at 27f461d. */
import { readU128, readU64 } from "../../programs/math/bytes.ts"
import { ceilDiv } from "../../programs/math/integers.ts"
import { raydiumAmmV4 } from "../../programs/raydium/ammV4.ts"
import { writeAddress, writeU128, writeU64 } from "../../programs/math/writeBytes.ts"
import { Address } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import { ammV4Call } from "./raydiumCalls.ts"
import { exchange, newVaults, type Pair, type PoolSpec, priced, type SimPool, vaultDepth } from "../chain/SimPool.ts"
import type { World } from "../chain/World.ts"

const AUTHORITY = Address.make("5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1")
const OPEN_BOOK = Address.make("srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX")

/** Where the program counts what was swapped: coin to pc, then pc to coin. */
const counters = {
  coinToPc: { in: 256, out: 272, fee: 328 },
  pcToCoin: { in: 296, out: 312, fee: 288 }
} as const

/** Status 6 may only swap; 3 may only withdraw, so that every swap is refused. */
const status = { swapOnly: 6n, withdrawOnly: 3n }

const newState = (world: World, spec: PoolSpec, vaults: Pair, open: boolean): Uint8Array => {
  const name = (part: string) => inventAddress(world.seed, `raydium-amm-v4 ${spec.label} ${part}`)
  const data = new Uint8Array(752)
  const numbers: ReadonlyArray<readonly [number, bigint]> = [
    [0, open ? status.swapOnly : status.withdrawOnly],
    [8, 254n],
    [16, 7n],
    [24, 3n],
    [128, 5n],
    [136, 10_000n],
    [144, 25n],
    [152, 10_000n],
    [160, 12n],
    [168, 100n],
    [176, 25n],
    [184, 10_000n]
  ]
  numbers.forEach(([offset, value]) => writeU64(data, offset, value))
  writeAddress(data, 336, vaults.a)
  writeAddress(data, 368, vaults.b)
  writeAddress(data, 400, spec.base)
  writeAddress(data, 432, spec.quote)
  writeAddress(data, 464, name("lp mint"))
  writeAddress(data, 496, name("open orders"))
  writeAddress(data, 528, name("market"))
  writeAddress(data, 560, OPEN_BOOK)
  return data
}

const counted = (before: Uint8Array, aToB: boolean, amountIn: bigint, amountOut: bigint): Uint8Array => {
  const at = aToB ? counters.coinToPc : counters.pcToCoin
  const data = before.slice()
  writeU128(data, at.in, readU128(data, at.in) + amountIn)
  writeU128(data, at.out, readU128(data, at.out) + amountOut)
  writeU64(data, at.fee, readU64(data, at.fee) + ceilDiv(amountIn * readU64(data, 176), readU64(data, 184)))
  return data
}

/** A filled pool with the base as coin. Classic mints only. A pool that is not open can only be withdrawn from. */
export const newRaydiumAmmV4Pool = (world: World, spec: PoolSpec, open = true): SimPool => {
  const name = (part: string) => inventAddress(world.seed, `raydium-amm-v4 ${spec.label} ${part}`)
  const address = name("pool")
  const mints = { a: spec.base, b: spec.quote }
  const sides = { a: [spec.base, spec.baseAmount], b: [spec.quote, spec.quoteAmount] } as const
  const vaults = newVaults(world, AUTHORITY, sides, (side) => name(`vault ${side}`))
  world.newAccount(address, raydiumAmmV4.programId, newState(world, spec, vaults, open))
  const current = priced(world, raydiumAmmV4, [address, vaults.a, vaults.b])
  const depth = vaultDepth(world, vaults)

  const plan: SimPool["plan"] = (aToB, amountIn, clock) => {
    const swap = current()?.swap(aToB, amountIn, clock)
    if (swap?.ending !== "filled") {
      return null
    }
    const data = counted(world.bank.must(address).data, aToB, amountIn, swap.amountOut)
    return {
      amountIn,
      amountOut: swap.amountOut,
      fee: ceilDiv(amountIn * readU64(data, 176), readU64(data, 184)),
      payments: exchange(aToB, mints, vaults, { in: amountIn, out: swap.amountOut }),
      writes: [{ address, data }]
    }
  }

  return {
    address,
    dex: raydiumAmmV4.dex,
    programId: raydiumAmmV4.programId,
    mintA: spec.base,
    mintB: spec.quote,
    open: () => open,
    plan,
    call: ammV4Call(world, { address, mints, vaults, part: name }, AUTHORITY, OPEN_BOOK),
    price: () => depth().b / depth().a,
    depth
  }
}
