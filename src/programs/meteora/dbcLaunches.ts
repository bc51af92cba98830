/**
 * Launches on Meteora's bonding curve. New pools are read from events, migrations to DAMM v2 from their instruction.
 * Migrations to the older AMM are not decoded. Layout: dynamic-bonding-curve, event.rs and
 * migrate_damm_v2_initialize_pool.rs.
 */
import { eventLayout } from "../layout/anchorEvents.ts"
import { readAddress } from "../layout/bytes.ts"
import { pack, text, u64 } from "../layout/pack.ts"
import { meteoraDbc } from "./dbc.ts"
import type { Launchpad } from "../interface/Launchpad.ts"
import { tagAt, tagOf } from "../layout/anchor.ts"

const launchpad = "meteora-dbc"

const INITIALIZE_WITH_SPL_TOKEN = tagOf("8c55d7b06636684f")
const MIGRATION_DAMM_V2 = tagOf("9ca9e66735e45040")

/** Event `EvtInitializePool`. */
export const dbcInitializeEvent = eventLayout("e432f655cb428625", [
  ["pool", "address"],
  ["config", "address"],
  ["creator", "address"],
  ["baseMint", "address"],
  ["poolType", "u8"],
  ["activationPoint", "u64"]
])
const INITIALIZE_WITH_HOOK_EVENT = tagOf("d589a435c14a0f6e")

/**
 * First accounts of the migration to DAMM v2. For an optional account that is left out, the program itself is passed.
 */
export const dbcMigrationAccounts = [
  "virtualPool",
  "migrationMetadata",
  "config",
  "poolAuthority",
  "pool",
  "firstPositionNftMint",
  "firstPositionNftAccount",
  "firstPosition",
  "secondPositionNftMint",
  "secondPositionNftAccount",
  "secondPosition",
  "dammPoolAuthority",
  "ammProgram",
  "baseMint",
  "quoteMint"
] as const

const migrationAt = {
  pool: dbcMigrationAccounts.indexOf("pool"),
  mint: dbcMigrationAccounts.indexOf("baseMint")
}
const initializeAt = {
  config: dbcInitializeEvent.offsetOf("config"),
  pool: dbcInitializeEvent.offsetOf("pool"),
  creator: dbcInitializeEvent.offsetOf("creator"),
  mint: dbcInitializeEvent.offsetOf("baseMint")
}

/** The data of the instruction that opens a pool and creates its mint. */
export const encodeDbcInitialize = (texts: readonly [name: string, symbol: string, uri: string]): Uint8Array =>
  pack(u64(INITIALIZE_WITH_SPL_TOKEN), ...texts.map(text))

/** The data of the instruction that moves the tokens of a complete curve to DAMM v2. */
export const encodeDbcMigration = (): Uint8Array => u64(MIGRATION_DAMM_V2)

/** Decodes launches and migrations of dynamic bonding curves. */
export const meteoraDbcLaunches: Launchpad = {
  launchpad,
  dex: meteoraDbc.dex,
  programId: meteoraDbc.programId,
  // Pools with a transfer hook emit the same event fields as pools without one.
  event: ({ tag, body }) =>
    (tag === dbcInitializeEvent.tag || tag === INITIALIZE_WITH_HOOK_EVENT) &&
    body.length >= dbcInitializeEvent.endOf("baseMint")
      ? {
          event: "created",
          launchpad,
          mint: readAddress(body, initializeAt.mint),
          pool: readAddress(body, initializeAt.pool),
          creator: readAddress(body, initializeAt.creator),
          config: readAddress(body, initializeAt.config)
        }
      : null,
  instruction: (data, accounts) => {
    const mint = tagAt(data, 0) === MIGRATION_DAMM_V2 ? accounts[migrationAt.mint] : undefined
    return mint === undefined ? null : { event: "migrated", launchpad, mint, pool: accounts[migrationAt.pool] ?? null }
  }
}
