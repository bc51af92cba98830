/** The fee program's FeeConfig as bytes. */
import { discriminator, type Field, makeAccount } from "../../../src/quotes/execution/makeAccount.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { Address } from "../../../src/domain/Address.ts"

const FEE_PROGRAM = Address.make("pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ")

type Fees = readonly [lp: bigint, protocol: bigint, creator: bigint]

/** Market cap from which it applies, then basis points for liquidity, protocol and creator. */
export type Tier = readonly [threshold: bigint, ...Fees]

interface Schedules {
  readonly flat: Fees
  readonly tiers: ReadonlyArray<Tier>
  /** Absent in accounts of the first layout, like `exotic`. */
  readonly stableTiers?: ReadonlyArray<Tier>
  readonly exotic?: Fees
}

const feesAt = (offset: number, fees: Fees): ReadonlyArray<Field> => fees.map((bps, i) => [offset + 8 * i, bps])

const tiersAt = (offset: number, tiers: ReadonlyArray<Tier>): ReadonlyArray<Field> => [
  [offset, BigInt(tiers.length), 4],
  ...tiers.flatMap(([threshold, ...fees], i): ReadonlyArray<Field> => [
    [offset + 4 + 40 * i, threshold, 16],
    ...feesAt(offset + 20 + 40 * i, fees)
  ])
]

export const feeConfig = (address: Address, { exotic, flat, stableTiers, tiers }: Schedules): OnChainAccount => {
  const stable = 69 + 40 * tiers.length
  const end = stable + 4 + 40 * (stableTiers?.length ?? 0)
  const appended =
    stableTiers === undefined ? [] : [...tiersAt(stable, stableTiers), ...feesAt(end, exotic ?? [0n, 0n, 0n])]
  return makeAccount(address, FEE_PROGRAM, stableTiers === undefined ? stable : end + 24, [
    [0, discriminator("8f3492bbdb7b4c9b")],
    ...feesAt(41, flat),
    ...tiersAt(65, tiers),
    ...appended
  ])
}
