/**
 * A recorded pool: its accounts and the amounts that the program paid. The format is described by
 * `scripts/exactness.ts --help`.
 */
import { readFileSync } from "node:fs"
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { Address, isAddress } from "../../domain/Address.ts"

/** A case or an error, as in the file. Numbers may be strings of digits. */
export type Entry = Readonly<Record<string, unknown>>

export interface Fixture {
  readonly dex: string
  readonly programId: string
  readonly accounts: ReadonlyMap<string, OnChainAccount>
  readonly cases: ReadonlyArray<Entry>
  /** Swaps that the program refused. */
  readonly errors: ReadonlyArray<Entry>
  /** The clock of a case. Fields that the case lacks come from the file. */
  readonly clockOf: (entry: Entry) => ChainClock
}

// Used for files without a clock. It is later than every opening time, and their pools do not depend on the clock
// otherwise.
const LATE_ENOUGH = 1_795_219_200
const SLOTS_IN_EPOCH = 432_000

const isEntry = (value: unknown): value is Entry => typeof value === "object" && value !== null && !Array.isArray(value)

const entriesOf = (value: unknown): ReadonlyArray<Entry> => (Array.isArray(value) ? value.filter(isEntry) : [])

/** The field as text; undefined when the entry does not have it. */
export const textOf = (entry: Entry, field: string): string | undefined => {
  const value = entry[field]
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined
}

/** The field as a whole number; undefined when the entry does not have it. */
export const bigintOf = (entry: Entry, field: string): bigint | undefined => {
  const text = textOf(entry, field)
  return text === undefined || !/^-?\d+$/u.test(text) ? undefined : BigInt(text)
}

/** The field as an address; undefined when the entry does not have it. */
export const addressOf = (entry: Entry, field: string): Address | undefined => {
  const text = textOf(entry, field)
  return text === undefined || !isAddress(text) ? undefined : Address.make(text)
}

const numberOf = (field: string, ...entries: ReadonlyArray<Entry>): number | undefined => {
  const found = entries.map((entry) => bigintOf(entry, field)).find((value) => value !== undefined)
  return found === undefined ? undefined : Number(found)
}

const accountOf = (entry: Entry, slot: number): OnChainAccount => ({
  address: Address.make(textOf(entry, "pubkey") ?? ""),
  owner: Address.make(textOf(entry, "owner") ?? ""),
  lamports: bigintOf(entry, "lamports") ?? 0n,
  data: Uint8Array.from(Buffer.from(textOf(entry, "dataBase64") ?? "", "base64")),
  slot
})

/** Parses one recorded pool. Throws when the JSON is not an object or an account in it is malformed. */
export const parseFixture = (file: unknown): Fixture => {
  if (!isEntry(file)) {
    throw new TypeError("not an object")
  }
  const slot = numberOf("slot", file) ?? 0
  const accounts = entriesOf(file["accounts"]).map((entry) => accountOf(entry, slot))
  return {
    dex: textOf(file, "dex") ?? "",
    programId: textOf(file, "programId") ?? "",
    accounts: new Map(accounts.map((account) => [account.address, account])),
    cases: entriesOf(file["case"] ?? file["cases"]),
    errors: entriesOf(file["errors"]),
    clockOf: (entry) => {
      const at = numberOf("slot", entry, file) ?? 0
      return {
        slot: at,
        epoch: numberOf("epoch", entry, file) ?? Math.floor(at / SLOTS_IN_EPOCH),
        unixTimestamp: numberOf("unixTimestamp", entry, file) ?? LATE_ENOUGH
      }
    }
  }
}

export const readFixture = (path: string): Fixture => parseFixture(JSON.parse(readFileSync(path, "utf8")))
