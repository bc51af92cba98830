/**
 * Curves of Raydium LaunchLab. They are followed for their graduation but never quoted, because no price has been
 * proven against the program.
 */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { hasDiscriminator, readAddress, readU64 } from "../layout/bytes.ts"
import { namedVaults, poolsWithMintAt } from "../layout/poolFields.ts"
import { closed, malformed, unsupported } from "../layout/unpriceable.ts"
import type { Program, Rate, Unpriceable } from "../interface/Program.ts"
import {
  LAUNCHLAB_DEX,
  LAUNCHLAB_DISCRIMINATOR,
  LAUNCHLAB_PROGRAM,
  LAUNCHLAB_SIZE,
  launchLabAt,
  launchLabStatus
} from "./launchLabLayout.ts"

const isCurve = ({ data, owner }: OnChainAccount): boolean =>
  owner === LAUNCHLAB_PROGRAM && data.length >= LAUNCHLAB_SIZE && hasDiscriminator(data, LAUNCHLAB_DISCRIMINATOR)

/**
 * The share of the tokens for sale that is sold. The curve ends when all are sold. Null for amounts that no curve can
 * have.
 */
const graduationOf = (data: Uint8Array): Rate | null => {
  const numerator = readU64(data, launchLabAt.realBase)
  const denominator = readU64(data, launchLabAt.totalBaseSell)
  return denominator === 0n || numerator > denominator ? null : { numerator, denominator }
}

const decode = (pool: OnChainAccount): Unpriceable => {
  if (!isCurve(pool)) {
    return malformed(`${pool.address} is not a PoolState of LaunchLab`)
  }
  const status = pool.data[launchLabAt.status] ?? 0
  const graduation = graduationOf(pool.data)
  return {
    ...(status === launchLabStatus.funding
      ? unsupported("prices of Raydium LaunchLab are not proven against the program")
      : closed(status === launchLabStatus.migrated ? "moved to a pool" : "everything is sold")),
    mints: [readAddress(pool.data, launchLabAt.baseMint), readAddress(pool.data, launchLabAt.quoteMint)],
    ...(graduation !== null && { graduation })
  }
}

/** Curves of every platform on LaunchLab. */
export const raydiumLaunchLab: Program = {
  dex: LAUNCHLAB_DEX,
  programId: LAUNCHLAB_PROGRAM,
  // Only the sold token searches for its curve. This spares SOL and every other quote mint a search.
  poolsOf: poolsWithMintAt(LAUNCHLAB_SIZE, launchLabAt.baseMint),
  vaultsOf: namedVaults(
    { mint: launchLabAt.baseMint, vault: launchLabAt.baseVault },
    { mint: launchLabAt.quoteMint, vault: launchLabAt.quoteVault }
  ),
  isPool: isCurve,
  needs: () => [],
  keepsNeeds: () => true,
  decode
}
