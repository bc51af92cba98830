/**
 * What launchpads did in a transaction. Pump.fun tells it in events (pump-public-docs, idl/pump.json). Meteora's bonding
 * curve tells of new pools in events and of migrations by its instruction (dynamic-bonding-curve, event.rs and
 * migrate_damm_v2_initialize_pool.rs); migrations to its older AMM are not told.
 */
import { readAddress, readU32 } from "../programs/math/bytes.ts"
import { meteoraDbc } from "../programs/meteora/dbc.ts"
import { PUMP_PROGRAM } from "../programs/pump/fees.ts"
import type { Address } from "../domain/Address.ts"
import type { Launch } from "../domain/market/Launch.ts"
import { dataOf, type Instruction } from "./instructions.ts"
import { tagAt, tagOf } from "../programs/SwapDecoder.ts"
import type { Transaction } from "./transaction.ts"

/** The launchpad of Pump.fun curves, as filters name it. */
export const PUMP_FUN = "pump-fun"
/** The launchpad of dynamic bonding curves, as filters name it. */
export const METEORA_DBC = "meteora-dbc"

/** How Anchor programs send events to themselves: this tag, the event's own tag, the body. */
const SELF_CALL = tagOf("e445a52e51cb9a1d")
const EVENT_AT = 8
const BODY_AT = 16

const pumpCreated = tagOf("1b72a94ddeeb6376")
const pumpMigrated = tagOf("bde95db95c94ea94")
const pumpMigratedAt = { mint: 32, pool: 128 }

/** Both pools, with and without a transfer hook, are told in the same fields. */
const dbcCreated: ReadonlySet<bigint> = new Set([tagOf("e432f655cb428625"), tagOf("d589a435c14a0f6e")])
const dbcCreatedAt = { pool: 0, mint: 96 }
const dbcMigrated = tagOf("9ca9e66735e45040")
const dbcMigratedAt = { pool: 4, mint: 13 }

const addressAt = (body: Uint8Array, offset: number): Address | null =>
  body.length < offset + 32 ? null : readAddress(body, offset)

const launch = (
  event: Launch["event"],
  launchpad: string,
  mint: Address | null | undefined,
  pool: Address | null | undefined
): Launch | null => (mint === null || mint === undefined ? null : { event, mint, launchpad, pool: pool ?? null })

/** Name, symbol and address of its metadata come first, each as long as it says. */
const afterTexts = (body: Uint8Array): number | null => {
  let offset = 0
  for (let text = 0; text < 3; text++) {
    if (offset + 4 > body.length) {
      return null
    }
    offset += 4 + readU32(body, offset)
  }
  return offset
}

const pumpLaunch = (data: Uint8Array, isEvent: boolean): Launch | null => {
  const tag = isEvent ? tagAt(data, EVENT_AT) : null
  const body = data.subarray(BODY_AT)
  if (tag === pumpMigrated) {
    return launch("migrated", PUMP_FUN, addressAt(body, pumpMigratedAt.mint), addressAt(body, pumpMigratedAt.pool))
  }
  const mintAt = tag === pumpCreated ? afterTexts(body) : null
  return mintAt === null ? null : launch("created", PUMP_FUN, addressAt(body, mintAt), addressAt(body, mintAt + 32))
}

const dbcLaunch = (data: Uint8Array, isEvent: boolean, accounts: ReadonlyArray<Address>): Launch | null => {
  if (isEvent) {
    const body = data.subarray(BODY_AT)
    return dbcCreated.has(tagAt(data, EVENT_AT))
      ? launch("created", METEORA_DBC, addressAt(body, dbcCreatedAt.mint), addressAt(body, dbcCreatedAt.pool))
      : null
  }
  return tagAt(data, 0) === dbcMigrated
    ? launch("migrated", METEORA_DBC, accounts[dbcMigratedAt.mint], accounts[dbcMigratedAt.pool])
    : null
}

const launchOf = (instruction: Instruction): Launch | null => {
  const isPump = instruction.program === PUMP_PROGRAM
  const data = isPump || instruction.program === meteoraDbc.programId ? dataOf(instruction) : null
  if (data === null) {
    return null
  }
  // Only the program itself can sign for its event authority, the one account of such a call.
  const isEvent = instruction.accounts.length === 1 && tagAt(data, 0) === SELF_CALL
  return isPump ? pumpLaunch(data, isEvent) : dbcLaunch(data, isEvent, instruction.accounts)
}

const NONE: ReadonlyArray<Launch> = []

/** Tokens that were put on a curve, and those that left it. A transaction that failed launched nothing. */
export const launchesOf = ({ error, instructions }: Transaction): ReadonlyArray<Launch> => {
  const found = error === null ? instructions.flatMap((instruction) => launchOf(instruction) ?? []) : NONE
  return found.length === 0 ? NONE : found
}
