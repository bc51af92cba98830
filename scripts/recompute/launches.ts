/** Tokens that launchpads create, and those that leave their curves. From the programs' public IDLs. */
import bs58 from "bs58"
import type { WalletDifference } from "./compareWallets.ts"
import { begins, eventOf, type ReadTransaction } from "./legs.ts"
import { DBC, discriminator, LAUNCHLAB, PUMP } from "./programs.ts"

/** A launch or a migration. */
export interface RawLaunch {
  readonly event: "created" | "migrated"
  readonly launchpad: string
  readonly mint: string
  /** The curve of a launch, the pool of a migration. */
  readonly pool: string
  /** The wallet that the launchpad names as creator; null in a migration, which names none. */
  readonly creator: string | null
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
    // Older events name the payer alone.
    const creator = address(event, event.length >= at + 128 ? at + 96 : at + 64)
    return { event: "created", launchpad: "pump-fun", mint: address(event, at), pool: address(event, at + 32), creator }
  }
  return begins(event, PUMP_MIGRATION)
    ? {
        event: "migrated",
        launchpad: "pump-fun",
        mint: address(event, MIGRATED_MINT),
        pool: address(event, MIGRATED_POOL),
        creator: null
      }
    : null
}

/**
 * LaunchLab names the mint in its instructions alone. A creation has its creator at 1, the curve at 5 and the mint at 6; a
 * migration to CPMM has the mint at 1 and the pool at 5.
 */
const launchLabLaunch = (data: Uint8Array, key: (at: number) => string): ReadonlyArray<RawLaunch> => {
  const launchpad = "raydium-launchlab"
  if (LAUNCHLAB_CREATIONS.some((creation) => begins(data, creation))) {
    return [{ event: "created", launchpad, mint: key(6), pool: key(5), creator: key(1) }]
  }
  return begins(data, LAUNCHLAB_MIGRATION)
    ? [{ event: "migrated", launchpad, mint: key(1), pool: key(5), creator: null }]
    : []
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
      return [{ event: "migrated", launchpad: "meteora-dbc", mint: key(DBC_MINT), pool: key(DBC_POOL), creator: null }]
    }
    return event !== data && begins(event, DBC_CREATE)
      ? [
          {
            event: "created",
            launchpad: "meteora-dbc",
            mint: address(event, 104),
            pool: address(event, 8),
            creator: address(event, 72)
          }
        ]
      : []
  })

/** A launch or a migration with the time of its block. */
export interface DatedLaunch extends RawLaunch {
  readonly second: number
}

/** The tokens that a wallet created, the newest first. */
export const launchesBy = (launches: ReadonlyArray<DatedLaunch>, creator: string) => {
  const migrated = new Map(
    launches.flatMap(({ event, mint, second }) => (event === "migrated" ? [[mint, second] as const] : []))
  )
  return launches
    .filter((launch) => launch.event === "created" && launch.creator === creator)
    .map(({ launchpad, mint, second }) => ({
      mint,
      launchpad,
      createdAtMs: second * 1000,
      graduatedAtMs: migrated.has(mint) ? (migrated.get(mint) ?? 0) * 1000 : null
    }))
    .toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.mint < b.mint ? -1 : 1))
}

/** All rows of `/wallets/{wallet}/launches`, and its sums. */
export interface ServiceLaunches {
  readonly rows: ReadonlyArray<{
    readonly token: { readonly address: string }
    readonly launchpad: string
    readonly createdAtMs: number | null
    readonly graduatedAtMs: number | null
  }>
  readonly sums: {
    readonly created: number
    readonly graduated: number
    readonly graduatedPct: string | null
    readonly migratedOnly: number
    readonly newestAtMs: number | null
  }
}

/** Fifteen digits of a percentage, without zeros at the end. */
const percentText = (part: number, whole: number): string | null =>
  whole === 0 ? null : String(Number(((100 * part) / whole).toPrecision(15)))

/** Compares the tokens that a wallet launched, and the share of them that graduated. */
export const compareLaunches = (
  wallet: string,
  launches: ReadonlyArray<DatedLaunch>,
  { rows, sums }: ServiceLaunches
): { readonly figures: number; readonly differences: ReadonlyArray<WalletDifference> } => {
  const wanted = launchesBy(launches, wallet)
  const graduated = wanted.filter(({ graduatedAtMs }) => graduatedAtMs !== null).length
  const textOf = (
    mint: string,
    { createdAtMs, graduatedAtMs, launchpad }: Omit<ServiceLaunches["rows"][number], "token">
  ) => `${mint} ${launchpad} ${createdAtMs} ${graduatedAtMs}`
  const figures: ReadonlyArray<readonly [string, string | null, string | null]> = [
    ["created", String(sums.created), String(wanted.length)],
    ["graduated", String(sums.graduated), String(graduated)],
    ["graduatedPct", sums.graduatedPct && String(Number(sums.graduatedPct)), percentText(graduated, wanted.length)],
    ["migratedOnly", String(sums.migratedOnly), "0"],
    ["newestAtMs", String(sums.newestAtMs), String(wanted[0]?.createdAtMs ?? null)],
    ...Array.from({ length: Math.max(rows.length, wanted.length) }, (_, place) => {
      const [row, launch] = [rows[place], wanted[place]]
      return [
        `place ${place + 1}`,
        row === undefined ? null : textOf(row.token.address, row),
        launch === undefined ? null : textOf(launch.mint, launch)
      ] as const
    })
  ]
  return {
    figures: figures.length,
    differences: figures
      .filter(([, service, recomputed]) => service !== recomputed)
      .map(([field, service, recomputed]) => ({ wallet, mint: null, field: `launches ${field}`, service, recomputed }))
  }
}
