/** Raydium CPMM pools as the program writes them: raydium-io/raydium-cp-swap, programs/cp-swap/src at 609780f. */
import { readU64 } from "../../programs/math/bytes.ts"
import { outputFor } from "../../programs/math/constantProduct.ts"
import { ceilDiv } from "../../programs/math/integers.ts"
import { raydiumCpmm } from "../../programs/raydium/cpmm.ts"
import { TOKEN_PROGRAM } from "../../programs/math/tokenAccount.ts"
import { newAccountData, writeAddress, writeU16, writeU64 } from "../../programs/math/writeBytes.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import { cpmmCall } from "./raydiumCalls.ts"
import {
  afterTransferFee,
  exchange,
  inOrder,
  newVaults,
  type Pair,
  type PoolSpec,
  priced,
  type SimPool,
  vaultDepth
} from "../chain/SimPool.ts"
import { balanceOf, supplyOf } from "../chain/tokens.ts"
import type { World } from "../chain/World.ts"

const SCALE = 1_000_000n
const utf8 = new TextEncoder()

/** Fee rates in millionths: of the input, and of the trade fee for protocol and fund. */
export interface CpmmConfig {
  readonly index: number
  readonly trade: bigint
  readonly protocol: bigint
  readonly fund: bigint
  readonly creator: bigint
}

/** What sets one pool apart from the next. */
export interface CpmmSpec extends PoolSpec {
  readonly config: CpmmConfig
  /** Whether the creator's fee is charged, and on what: 0 the input, 1 token 0, 2 token 1. */
  readonly creatorFeeOn: 0 | 1 | 2 | null
  /** `closed` pools let nobody swap; `newer` ones carry fields of a program version that nobody has described. */
  readonly state: "open" | "closed" | "newer"
}

const at = { protocolFees: [341, 349], fundFees: [357, 365], creatorFees: [397, 405] } as const

const configAddress = (world: World, { index }: CpmmConfig): Address => {
  const seed = new Uint8Array(2)
  new DataView(seed.buffer).setUint16(0, index, false)
  return world.derive(raydiumCpmm.programId, [utf8.encode("amm_config"), seed])
}

const ensureConfig = (world: World, config: CpmmConfig): Address => {
  const address = configAddress(world, config)
  if (world.bank.get(address) !== undefined) {
    return address
  }
  const data = newAccountData(236, "daf42168cbcb2b6f")
  writeU16(data, 10, config.index)
  writeU64(data, 12, config.trade)
  writeU64(data, 20, config.protocol)
  writeU64(data, 28, config.fund)
  writeU64(data, 36, 150_000_000n)
  writeU64(data, 108, config.creator)
  world.newAccount(address, raydiumCpmm.programId, data)
  return address
}

const newState = (
  world: World,
  spec: CpmmSpec,
  mints: readonly [Mint, Mint],
  vaults: Pair,
  name: (part: string) => Address
): Uint8Array => {
  const data = newAccountData(637, "f7ede3f5d7c3de46")
  const owners = mints.map((mint) => world.bank.must(mint).owner)
  const addresses: ReadonlyArray<readonly [number, Address | undefined]> = [
    [8, ensureConfig(world, spec.config)],
    [40, name("creator")],
    [72, vaults.a],
    [104, vaults.b],
    [136, name("lp mint")],
    [168, mints[0]],
    [200, mints[1]],
    [232, owners[0]],
    [264, owners[1]],
    [296, name("observation")]
  ]
  for (const [offset, address] of addresses) {
    writeAddress(data, offset, address ?? TOKEN_PROGRAM)
  }
  data[329] = spec.state === "closed" ? 0b100 : 0
  data[330] = 9
  mints.forEach((mint, index) => {
    data[331 + index] = world.bank.must(mint).data[44] ?? 0
  })
  writeU64(data, 333, supplyOf(world.bank.must(name("lp mint"))))
  data[413] = spec.state === "newer" ? 1 : 0
  data[389] = spec.creatorFeeOn ?? 0
  data[390] = spec.creatorFeeOn === null ? 0 : 1
  return data
}

/** What the counters of a token hold: it lies in the vault without being liquidity. */
const owed = (data: Uint8Array, token: 0 | 1): bigint =>
  readU64(data, at.protocolFees[token]) + readU64(data, at.fundFees[token]) + readU64(data, at.creatorFees[token])

/** What a swap moves inside the pool: the payout of its vault, and what each fee counter gains. */
const swapOf = (
  { config, creatorFeeOn }: CpmmSpec,
  tokenIn: 0 | 1,
  received: bigint,
  reserves: { readonly in: bigint; readonly out: bigint }
) => {
  const rate = creatorFeeOn === null ? 0n : config.creator
  const onInput = creatorFeeOn === 0 || creatorFeeOn === tokenIn + 1
  const total = ceilDiv(received * (onInput ? config.trade + rate : config.trade), SCALE)
  const creatorIn = onInput && rate > 0n ? (total * rate) / (config.trade + rate) : 0n
  const gross = outputFor(received - total, reserves.in, reserves.out)
  const creatorOut = onInput ? 0n : ceilDiv(gross * rate, SCALE)
  const tradeFee = total - creatorIn
  return {
    payout: gross - creatorOut,
    tradeFee,
    protocol: (tradeFee * config.protocol) / SCALE,
    fund: (tradeFee * config.fund) / SCALE,
    creatorIn,
    creatorOut
  }
}

const add = (data: Uint8Array, offset: number, amount: bigint): void =>
  writeU64(data, offset, readU64(data, offset) + amount)

/** A filled pool. The mints take their places by address, as the program demands. */
export const newRaydiumCpmmPool = (world: World, spec: CpmmSpec): SimPool => {
  const { bank } = world
  const name = (part: string) => inventAddress(world.seed, `raydium-cpmm ${spec.label} ${part}`)
  const address = name("pool")
  const [a, b] = inOrder(spec)
  const mints = { a: a[0], b: b[0] }
  const authority = world.derive(raydiumCpmm.programId, [utf8.encode("vault_and_lp_mint_auth_seed")])
  const vaults = newVaults(world, authority, { a, b }, (side) => name(`vault ${side}`))
  world.newMint({ address: name("lp mint"), decimals: 9, authority, freezeAuthority: null, transferFee: null })
  world.newAccount(address, raydiumCpmm.programId, newState(world, spec, [a[0], b[0]], vaults, name))
  const config = configAddress(world, spec.config)
  const current = priced(world, raydiumCpmm, [address, vaults.a, vaults.b, a[0], b[0], config])

  const plan: SimPool["plan"] = (aToB, amountIn, clock) => {
    const swap = current()?.swap(aToB, amountIn, clock)
    if (swap?.ending !== "filled") {
      return null
    }
    const [tokenIn, tokenOut] = aToB ? ([0, 1] as const) : ([1, 0] as const)
    const [into, from] = aToB ? [vaults.a, vaults.b] : [vaults.b, vaults.a]
    const data = bank.must(address).data.slice()
    const moved = swapOf(spec, tokenIn, afterTransferFee(world, aToB ? mints.a : mints.b, amountIn), {
      in: balanceOf(bank.must(into)) - owed(data, tokenIn),
      out: balanceOf(bank.must(from)) - owed(data, tokenOut)
    })
    add(data, at.protocolFees[tokenIn], moved.protocol)
    add(data, at.fundFees[tokenIn], moved.fund)
    add(data, at.creatorFees[tokenIn], moved.creatorIn)
    add(data, at.creatorFees[tokenOut], moved.creatorOut)
    return {
      amountIn,
      amountOut: swap.amountOut,
      fee: moved.tradeFee,
      payments: exchange(aToB, mints, vaults, { in: amountIn, out: moved.payout }),
      writes: [{ address, data }]
    }
  }

  const depth = vaultDepth(world, vaults)
  return {
    address,
    dex: raydiumCpmm.dex,
    programId: raydiumCpmm.programId,
    mintA: a[0],
    mintB: b[0],
    open: () => spec.state === "open",
    plan,
    call: cpmmCall(
      world,
      { address, mints, vaults, part: name },
      { authority, config, owed: (token) => owed(bank.must(address).data, token) }
    ),
    price: () => depth().b / depth().a,
    depth
  }
}
