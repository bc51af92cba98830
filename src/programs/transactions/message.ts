/** A transaction's message: which accounts it names, in which order, and how the runtime finds them. */
import type { Address } from "../../domain/Address.ts"
import type { AccountRef, Call } from "./Call.ts"

/** Accounts that a message takes from one lookup table, by their index in the table. */
export interface TableLookup {
  readonly table: Address
  readonly writable: ReadonlyArray<number>
  readonly readonly: ReadonlyArray<number>
}

/**
 * The accounts of a message. In `keys`, accounts from lookup tables come last: first the writable ones of all tables,
 * then the others.
 */
export interface Message {
  readonly version: 0 | "legacy"
  readonly keys: ReadonlyArray<Address>
  readonly signers: number
  readonly readonlySigners: number
  readonly readonlyOthers: number
  readonly lookups: ReadonlyArray<TableLookup>
  readonly loadedWritable: number
  readonly loadedReadonly: number
}

/** The lookup tables of the chain. An address gets its place when it is first looked up. */
export interface LookupTables {
  readonly placeOf: (address: Address) => { readonly table: Address; readonly index: number }
}

const TABLE_SIZE = 256

/** Makes tables that grow as they are used. */
export const makeLookupTables = (tableAt: (index: number) => Address): LookupTables => {
  const places = new Map<Address, { readonly table: Address; readonly index: number }>()
  return {
    placeOf: (address) => {
      const known = places.get(address)
      if (known !== undefined) {
        return known
      }
      const place = { table: tableAt(Math.floor(places.size / TABLE_SIZE)), index: places.size % TABLE_SIZE }
      places.set(address, place)
      return place
    }
  }
}

type Flags = { writable: boolean; signer: boolean }

/**
 * Collects every account with the permissions that the message must give it. An inner call may sign for accounts that
 * no wallet signs for.
 */
const gather = (payer: Address, calls: ReadonlyArray<Call>): Map<Address, Flags> => {
  const flags = new Map<Address, Flags>([[payer, { writable: true, signer: true }]])
  const add = ({ address, writable, signer }: AccountRef, outer: boolean): void => {
    const known = flags.get(address) ?? { writable: false, signer: false }
    flags.set(address, { writable: known.writable || writable, signer: known.signer || (outer && signer) })
  }
  const visit = (call: Call, outer: boolean): void => {
    call.accounts.forEach((account) => add(account, outer))
    add({ address: call.program, writable: false, signer: false }, outer)
    call.steps.forEach((step) => (typeof step === "string" ? undefined : visit(step, false)))
  }
  calls.forEach((call) => visit(call, true))
  return flags
}

const lookupsOf = (tables: LookupTables, loaded: ReadonlyArray<readonly [Address, Flags]>) => {
  const byTable = Map.groupBy(loaded, ([address]) => tables.placeOf(address).table)
  const groups = Array.from(byTable, ([table, entries]) => ({
    table,
    writable: entries.filter(([, { writable }]) => writable).map(([address]) => address),
    readonly: entries.filter(([, { writable }]) => !writable).map(([address]) => address)
  }))
  const indexes = (addresses: ReadonlyArray<Address>) => addresses.map((address) => tables.placeOf(address).index)
  return {
    writable: groups.flatMap(({ writable }) => writable),
    readonly: groups.flatMap((group) => group.readonly),
    lookups: groups.map(({ table, writable, readonly }) => ({
      table,
      writable: indexes(writable),
      readonly: indexes(readonly)
    }))
  }
}

/**
 * Compiles the message for these calls. With tables, all accounts except signers and called programs are looked up.
 */
export const compileMessage = (
  payer: Address,
  calls: ReadonlyArray<Call>,
  form: { readonly version: 0 | "legacy"; readonly tables: LookupTables | null }
): Message => {
  const flags = Array.from(gather(payer, calls))
  const called = new Set(calls.map(({ program }) => program))
  const isLoaded = ([address, { signer }]: readonly [Address, Flags]) =>
    form.tables !== null && !signer && !called.has(address)
  const pick = (signer: boolean, writable: boolean) =>
    flags
      .filter((entry) => entry[1].signer === signer && entry[1].writable === writable && !isLoaded(entry))
      .map(([address]) => address)
  const [payers, signers, others, readonlyOthers] = [
    pick(true, true),
    pick(true, false),
    pick(false, true),
    pick(false, false)
  ]
  const looked =
    form.tables === null ? { writable: [], readonly: [], lookups: [] } : lookupsOf(form.tables, flags.filter(isLoaded))
  return {
    version: form.version,
    keys: [...payers, ...signers, ...others, ...readonlyOthers, ...looked.writable, ...looked.readonly],
    signers: payers.length + signers.length,
    readonlySigners: signers.length,
    readonlyOthers: readonlyOthers.length,
    lookups: looked.lookups,
    loadedWritable: looked.writable.length,
    loadedReadonly: looked.readonly.length
  }
}

/** True when the transaction may write to the account at this index of the keys. */
export const isWritable = (message: Message, index: number): boolean => {
  const { keys, signers, readonlySigners, readonlyOthers, loadedWritable, loadedReadonly } = message
  const loadedAt = keys.length - loadedWritable - loadedReadonly
  if (index < signers) {
    return index < signers - readonlySigners
  }
  return index < loadedAt ? index < loadedAt - readonlyOthers : index < loadedAt + loadedWritable
}
