/** Raydium CPMM pools of the simulated market. */
import { newAccountData, writeAddress, writeU16, writeU64 } from "../../programs/layout/bytes.ts"
import { squareRoot } from "../../programs/math/integers.ts"
import { cpmmAfter, cpmmMoves, raydiumCpmm } from "../../programs/raydium/cpmm.ts"
import {
  CPMM_CONFIG_DISCRIMINATOR,
  CPMM_CONFIG_SIZE,
  CPMM_DISCRIMINATOR,
  CPMM_PROGRAM,
  CPMM_SIZE,
  cpmmAuthority,
  cpmmConfigAddress,
  cpmmConfigOffsets,
  cpmmOffsets,
  cpmmStatusBits,
  cpmmUncollectedFees
} from "../../programs/raydium/cpmmLayout.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import { CPMM_LOCKED_LP, cpmmLiquidity } from "./cpmmLiquidity.ts"
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

const at = cpmmOffsets

/** Fee rates in millionths: of the input and, for protocol and fund, of the trade fee. */
export interface CpmmConfig {
  readonly index: number
  readonly trade: bigint
  readonly protocol: bigint
  readonly fund: bigint
  readonly creator: bigint
}

export interface CpmmSpec extends PoolSpec {
  readonly config: CpmmConfig
  /** Which side pays the creator fee: 0 the input, 1 token 0, 2 token 1; null without such a fee. */
  readonly creatorFeeOn: 0 | 1 | 2 | null
  /** Accounts that the tokens (`a`) and the quote (`b`) come from; null creates new money. */
  readonly depositors: Pair | null
  /** Who gets the LP tokens; nobody when absent. */
  readonly provider?: Address | undefined
  /** `closed` rejects swaps. `newer` sets fields of a program version that the engine does not price. */
  readonly state: "open" | "closed" | "newer"
}

const ensureConfig = (world: World, config: CpmmConfig): Address => {
  const address = cpmmConfigAddress(world.derive, config.index)
  if (world.bank.get(address) !== undefined) {
    return address
  }
  const configAt = cpmmConfigOffsets
  const data = newAccountData(CPMM_CONFIG_SIZE, CPMM_CONFIG_DISCRIMINATOR)
  writeU16(data, configAt.index, config.index)
  writeU64(data, configAt.tradeFeeRate, config.trade)
  writeU64(data, configAt.protocolFeeRate, config.protocol)
  writeU64(data, configAt.fundFeeRate, config.fund)
  writeU64(data, configAt.createPoolFee, 150_000_000n)
  writeU64(data, configAt.creatorFeeRate, config.creator)
  world.newAccount(address, CPMM_PROGRAM, data)
  return address
}

const newState = (
  world: World,
  spec: CpmmSpec,
  mints: readonly [Mint, Mint],
  vaults: Pair,
  name: (part: string) => Address
): Uint8Array => {
  const data = newAccountData(CPMM_SIZE, CPMM_DISCRIMINATOR)
  writeAddress(data, at.config, cpmmConfigAddress(world.derive, spec.config.index))
  writeAddress(data, at.creator, name("creator"))
  writeAddress(data, at.vaults[0], vaults.a)
  writeAddress(data, at.vaults[1], vaults.b)
  writeAddress(data, at.lpMint, name("lp mint"))
  for (const token of [0, 1] as const) {
    const mint = world.bank.must(mints[token])
    writeAddress(data, at.mints[token], mint.address)
    writeAddress(data, at.tokenPrograms[token], mint.owner)
    data[at.decimals[token]] = mint.data[44] ?? 0
  }
  writeAddress(data, at.observation, name("observation"))
  data[at.status] = spec.state === "closed" ? cpmmStatusBits.swapOff : 0
  data[at.lpDecimals] = 9
  const issued = supplyOf(world.bank.must(name("lp mint")))
  writeU64(data, at.lpSupply, issued === 0n ? 0n : issued + CPMM_LOCKED_LP)
  data[at.reserved] = spec.state === "newer" ? 1 : 0
  data[at.creatorFeeOn] = spec.creatorFeeOn ?? 0
  data[at.creatorFeeEnabled] = spec.creatorFeeOn === null ? 0 : 1
  return data
}

/** Creates a filled pool. The mints are sorted by address, as the program requires. */
export const newRaydiumCpmmPool = (world: World, spec: CpmmSpec): SimPool => {
  const { bank } = world
  const name = (part: string) => inventAddress(world.seed, `raydium-cpmm ${spec.label} ${part}`)
  const address = name("pool")
  const [a, b] = inOrder(spec)
  const mints = { a: a[0], b: b[0] }
  const authority = cpmmAuthority(world.derive)
  const isBaseFirst = a[0] === spec.base
  const depositors =
    spec.depositors === null || isBaseFirst ? spec.depositors : { a: spec.depositors.b, b: spec.depositors.a }
  const vaults = newVaults(world, authority, { a, b }, (side) => name(`vault ${side}`), depositors)
  world.newMint({ address: name("lp mint"), decimals: 9, authority, freezeAuthority: null, transferFee: null })
  if (spec.provider !== undefined) {
    const whole = squareRoot(a[1] * b[1])
    world.issue(world.purse(spec.provider, name("lp mint")), name("lp mint"), whole - CPMM_LOCKED_LP)
  }
  const configAddress = ensureConfig(world, spec.config)
  world.newAccount(address, CPMM_PROGRAM, newState(world, spec, [a[0], b[0]], vaults, name))

  const current = priced(world, raydiumCpmm, [address, vaults.a, vaults.b, a[0], b[0], configAddress])

  const plan: SimPool["plan"] = (aToB, amountIn, clock) => {
    const swap = current()?.swap(aToB, amountIn, clock)
    if (swap?.ending !== "filled") {
      return null
    }
    const [tokenIn, tokenOut] = aToB ? ([0, 1] as const) : ([1, 0] as const)
    const [into, from] = aToB ? [vaults.a, vaults.b] : [vaults.b, vaults.a]
    const { data } = bank.must(address)
    const { config, creatorFeeOn } = spec
    const moved = cpmmMoves(
      { ...config, creator: creatorFeeOn === null ? 0n : config.creator },
      creatorFeeOn === 0 || creatorFeeOn === tokenIn + 1,
      afterTransferFee(world, aToB ? mints.a : mints.b, amountIn),
      {
        in: balanceOf(bank.must(into)) - cpmmUncollectedFees(data, tokenIn),
        out: balanceOf(bank.must(from)) - cpmmUncollectedFees(data, tokenOut)
      }
    )
    return {
      amountIn,
      amountOut: swap.amountOut,
      fee: moved.tradeFee,
      payments: exchange(aToB, mints, vaults, { in: amountIn, out: moved.payout }),
      writes: [{ address, data: cpmmAfter(data, tokenIn, moved) }]
    }
  }

  const depth = vaultDepth(world, vaults)
  const called = { address, mints, vaults, part: name }
  return {
    address,
    dex: raydiumCpmm.dex,
    programId: CPMM_PROGRAM,
    mintA: a[0],
    mintB: b[0],
    open: () => spec.state === "open",
    plan,
    call: cpmmCall(world, called, configAddress),
    price: () => depth().b / depth().a,
    depth,
    ...(spec.provider !== undefined && { liquidity: cpmmLiquidity(world, called, spec.provider) })
  }
}
