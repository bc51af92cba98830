/** Which wallets the simulated copier follows. */
import type { Address } from "../../domain/Address.ts"
import type { FollowStatus, NewFollow } from "../../api/schemas/Copying.ts"
import { inventBytes } from "../chain/addresses.ts"
import type { Cast } from "./cast.ts"
import { registries, WELCOME } from "../venues/fundingWorld.ts"

/** A follow, and when its status last changed. */
export interface SimFollow {
  readonly follow: NewFollow
  /** The follow is active until this time and afterwards has its status, paused or stopped. Null while active. */
  readonly ceasedAtMs: number | null
}

/** When the chain starts and when its past ends. */
export interface Times {
  readonly beganAtMs: number
  readonly liveAtMs: number
}

const SOL = 1_000_000_000n
const LAMPORTS_PER_CENT = SOL / 100n

interface Plan {
  readonly leader: (cast: Cast) => Address | undefined
  readonly label: string | null
  readonly status: FollowStatus
  readonly sizing: NewFollow["sizing"]
  readonly filters: NewFollow["filters"]
}

const fixed = (cents: bigint): Plan["sizing"] => ({
  mode: "fixed",
  amount: cents * LAMPORTS_PER_CENT,
  ratioPct: null,
  maxPerTrade: null,
  asset: "sol"
})

const ratio = (ratioPct: string, maxPerTrade: bigint): Plan["sizing"] => ({
  mode: "leader_ratio",
  amount: null,
  ratioPct,
  maxPerTrade,
  asset: "sol"
})

const open = { buys: true, sells: true, minLeaderUsd: null, maxMarketCapUsd: null }

const plans: ReadonlyArray<Plan> = [
  {
    leader: ({ whales }) => whales[0],
    label: "Deep Current",
    status: "active",
    sizing: fixed(50n),
    filters: { ...open, slippageBps: 1_500 }
  },
  {
    leader: ({ whales }) => whales[1],
    label: "The Plumb Line",
    status: "active",
    sizing: ratio("2.5", 2n * SOL),
    filters: { ...open, slippageBps: 30 }
  },
  {
    leader: ({ whales }) => whales[2],
    label: null,
    status: "active",
    sizing: fixed(25n),
    filters: { ...open, minLeaderUsd: "2500", maxMarketCapUsd: "50000000", slippageBps: 1_000 }
  },
  {
    leader: ({ whales }) => whales[3],
    label: "Slack Water",
    status: "paused",
    sizing: ratio("1", SOL),
    filters: { ...open, slippageBps: 2_000 }
  },
  {
    leader: ({ retail }) => retail[0],
    label: "Mira Tides",
    status: "stopped",
    sizing: fixed(10n),
    filters: { ...open, slippageBps: 500 }
  }
]

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 6)).toString("hex")

/** Names one start of one chain in the ids of follows and fills. */
export const runOf = (seed: string, { beganAtMs }: Times): string => hex(inventBytes(seed, `copies from ${beganAtMs}`))

const ceasedAt = (status: FollowStatus, { beganAtMs, liveAtMs }: Times): number | null => {
  if (status === "active") {
    return null
  }
  // A paused follow was active for half of the past, a stopped one for all of it.
  return status === "paused" ? Math.floor((beganAtMs + liveAtMs) / 2) : liveAtMs
}

/** The follows of the account that owns the first keys. Its first wallet pays. */
export const followsOf = (seed: string, cast: Cast, times: Times): ReadonlyArray<SimFollow> => {
  const owned = registries(seed).get(WELCOME)?.[0]
  return plans.flatMap(({ filters, label, leader, sizing, status }, index) => {
    const wallet = leader(cast)
    if (owned === undefined || wallet === undefined) {
      return []
    }
    const ceasedAtMs = ceasedAt(status, times)
    const { address, family, walletId } = owned
    const follow: NewFollow = {
      id: `cf_${runOf(seed, times)}_${index}`,
      accountId: WELCOME,
      leader: { wallet, label },
      ownedWallet: { walletId, family, address },
      status,
      sizing,
      filters,
      createdAtMs: times.beganAtMs,
      updatedAtMs: ceasedAtMs ?? times.beganAtMs,
      stoppedAtMs: status === "stopped" ? ceasedAtMs : null
    }
    return [{ follow, ceasedAtMs }]
  })
}
