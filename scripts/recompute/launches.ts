/** Tokens that launchpads create, and those that leave their curves. From the programs' public IDLs. */
import bs58 from "bs58"
import { begins, eventOf, type ReadTransaction } from "./legs.ts"
import { DBC, discriminator, LAUNCHLAB, PUMP } from "./programs.ts"

/** A launch or a migration. */
export interface RawLaunch {
  readonly event: "created" | "migrated"
  readonly launchpad: string
  readonly mint: string
  /** The curve of a launch, the pool of a migration. */
  readonly pool: string
}

const PUMP_CREATE = discriminator("event", "CreateEvent")
const PUMP_MIGRATION = discriminator("event", "CompletePumpAmmMigrationEvent")
const DBC_CREATE = discriminator("event", "EvtInitializePool")
const DBC_MIGRATION = discriminator("global", "migration_damm_v2")
/** Accounts of the migration instruction: the pool of DAMM v2 and the mint. */
const [DBC_POOL, DBC_MINT] = [4, 13]

const LAUNCHLAB_CREATIONS = ["initialize", "initialize_v2", "initialize_with_token_2022"].map((name) =>
  discriminator("global", name)
)
const LAUNCHLAB_MIGRATION = discriminator("global", "migrate_to_cpswap")

const address = (data: Uint8Array, at: number): string => bs58.encode(data.subarray(at, at + 32))

/** The offset behind so many texts, each with its length in four bytes before it. */
const afterTexts = (data: Uint8Array, from: number, texts: number): number => {
  let at = from
  for (let text = 0; text < texts; text++) {
    at += 4 + new DataView(data.buffer, data.byteOffset).getUint32(at, true)
  }
  return at
}

/** Mint, user and amounts come before the curve and its pool. */
const [MIGRATED_MINT, MIGRATED_POOL] = [40, 136]

const pumpLaunch = (event: Uint8Array): RawLaunch | null => {
  if (begins(event, PUMP_CREATE)) {
    const at = afterTexts(event, 8, 3)
    return { event: "created", launchpad: "pump-fun", mint: address(event, at), pool: address(event, at + 32) }
  }
  return begins(event, PUMP_MIGRATION)
    ? {
        event: "migrated",
        launchpad: "pump-fun",
        mint: address(event, MIGRATED_MINT),
        pool: address(event, MIGRATED_POOL)
      }
    : null
}

/** LaunchLab names the mint in its instructions alone: at 6 behind the curve of a creation, at 1 in a migration to CPMM. */
const launchLabLaunch = (data: Uint8Array, key: (at: number) => string): ReadonlyArray<RawLaunch> => {
  const launchpad = "raydium-launchlab"
  if (LAUNCHLAB_CREATIONS.some((creation) => begins(data, creation))) {
    return [{ event: "created", launchpad, mint: key(6), pool: key(5) }]
  }
  return begins(data, LAUNCHLAB_MIGRATION) ? [{ event: "migrated", launchpad, mint: key(1), pool: key(5) }] : []
}

/** Launches and migrations of a transaction, in order. */
export const launchesOf = ({ invocations, keys }: ReadTransaction): ReadonlyArray<RawLaunch> =>
  invocations.flatMap(({ instruction }): ReadonlyArray<RawLaunch> => {
    const program = keys[instruction.programIdIndex]
    if (program !== PUMP && program !== DBC && program !== LAUNCHLAB) {
      return []
    }
    const data = bs58.decode(instruction.data)
    const event = eventOf(data)
    if (program === PUMP) {
      const launch = event === data ? null : pumpLaunch(event)
      return launch === null ? [] : [launch]
    }
    const key = (at: number) => keys[instruction.accounts[at] ?? -1] ?? ""
    if (program === LAUNCHLAB) {
      return launchLabLaunch(data, key)
    }
    if (begins(data, DBC_MIGRATION)) {
      return [{ event: "migrated", launchpad: "meteora-dbc", mint: key(DBC_MINT), pool: key(DBC_POOL) }]
    }
    return event !== data && begins(event, DBC_CREATE)
      ? [{ event: "created", launchpad: "meteora-dbc", mint: address(event, 104), pool: address(event, 8) }]
      : []
  })
