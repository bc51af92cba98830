/** Encodes account writes as bytes, for the processes that apply them. */
import { Schema } from "effect"
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { type Address, addressFromBytes, addressToBytes } from "../../domain/Address.ts"
import type { AccountState } from "../AccountState.ts"

/**
 * Version of the encoding, the first byte of a message. During a deploy two versions meet. A reader also reads the
 * previous version, and readers are deployed before writers.
 */
export const VERSION = 2

/** The bytes are not a message, or have a version that this process cannot read. */
export class UnreadableWrites extends Schema.TaggedError<UnreadableWrites>()("UnreadableWrites", {
  /** The version of the message; null when it has none. */
  version: Schema.NullOr(Schema.Int),
  cause: Schema.Defect()
}) {}

/** Writes that a connection to the chain has received since the previous message. */
export interface AccountMessage {
  /** Number of the connection. Writes may be missing between messages of two connections. */
  readonly session: number
  /** All writes up to this slot have been sent, as far as they are known. */
  readonly slot: number
  /** By owner, the revision of the lease whose accounts have all been followed since before this message. */
  readonly leases: ReadonlyMap<string, number>
  /** Accounts of leases that the node refuses to follow, or whose writes it no longer sends completely. */
  readonly unfollowed: ReadonlyArray<Address>
  readonly writes: ReadonlyArray<readonly [Address, AccountState]>
}

const ADDRESS = 32
const EXISTS = 1
const HAS_VERSION = 2
/** Bytes of a write apart from its address and account; bytes of an account apart from its data. */
const WRITE = 17
const ACCOUNT = 14

const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Writes values one after the other. */
class Writer {
  readonly bytes: Buffer
  #at = 0

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size)
  }

  /** Writes an integer of `size` bytes. */
  integer(value: number, size: number): void {
    this.#at = this.bytes.writeUIntLE(value, this.#at, size)
  }

  /** Writes a number, exact up to 2^53. */
  number(value: number): void {
    this.#at = this.bytes.writeDoubleLE(value, this.#at)
  }

  amount(value: bigint): void {
    this.#at = this.bytes.writeBigUInt64LE(value, this.#at)
  }

  raw(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }
}

/** Reads what `Writer` wrote. Throws beyond the end. */
class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  integer(size: number): number {
    const value = this.#bytes.readUIntLE(this.#at, size)
    this.#at += size
    return value
  }

  number(): number {
    const value = this.#bytes.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  amount(): bigint {
    const value = this.#bytes.readBigUInt64LE(this.#at)
    this.#at += 8
    return value
  }

  /** A view into the message. It keeps the bytes of the whole message alive. */
  view(size: number): Buffer {
    if (this.#at + size > this.#bytes.length) {
      throw new RangeError("the message ends early")
    }
    this.#at += size
    return this.#bytes.subarray(this.#at - size, this.#at)
  }

  text(size: number): string {
    return this.view(size).toString("latin1")
  }
}

const list = <A>(count: number, read: () => A): Array<A> => Array.from({ length: count }, read)

/** An address by its bytes, as a key. */
export const keyOfAddress = (address: Address): string => Buffer.from(addressToBytes(address)).toString("latin1")

/** Encodes a message: the version, then the rest, compressed. `bytesOf` returns the bytes of an address. */
export const encodeMessage = (
  { leases, session, slot, unfollowed, writes }: AccountMessage,
  bytesOf: (address: Address) => Uint8Array = addressToBytes
): Uint8Array => {
  const owners = new Map<Address, number>()
  let size = 8 + 8 + 2 + 4 + 2 + 4 + unfollowed.length * ADDRESS
  for (const owner of leases.keys()) {
    size += 1 + owner.length + 4
  }
  for (const [, { account }] of writes) {
    size += ADDRESS + WRITE
    if (account !== null) {
      size += ACCOUNT + account.data.length
      owners.set(account.owner, owners.get(account.owner) ?? owners.size)
    }
  }
  const to = new Writer(size + owners.size * ADDRESS)
  to.number(session)
  to.number(slot)
  to.integer(leases.size, 2)
  for (const [owner, revision] of leases) {
    to.integer(owner.length, 1)
    to.raw(Buffer.from(owner, "latin1"))
    to.integer(revision, 4)
  }
  to.integer(unfollowed.length, 4)
  unfollowed.forEach((address) => to.raw(bytesOf(address)))
  to.integer(owners.size, 2)
  owners.forEach((_, owner) => to.raw(addressToBytes(owner)))
  to.integer(writes.length, 4)
  for (const [address, state] of writes) {
    const { account, writeVersion } = state
    to.raw(bytesOf(address))
    to.number(state.slot)
    to.integer((account === null ? 0 : EXISTS) + (writeVersion === undefined ? 0 : HAS_VERSION), 1)
    to.number(writeVersion ?? 0)
    if (account !== null) {
      to.amount(account.lamports)
      to.integer(owners.get(account.owner) ?? 0, 2)
      to.integer(account.data.length, 4)
      to.raw(account.data)
    }
  }
  return Buffer.concat([Buffer.of(VERSION), zstdCompressSync(to.bytes, fast)])
}

/** The address with these bytes as key, when the reader follows it. */
type Find = (key: string) => Address | undefined

const readWrite = (
  from: Reader,
  { find, owners, session }: { readonly find: Find; readonly owners: ReadonlyArray<Address>; readonly session: number }
): readonly [Address, AccountState] | undefined => {
  const address = find(from.text(ADDRESS))
  const slot = from.number()
  const flags = from.integer(1)
  const version = from.number()
  const order = (flags & HAS_VERSION) === 0 ? { writeVersion: undefined } : { writeVersion: version, stream: session }
  if ((flags & EXISTS) === 0) {
    return address && [address, { slot, account: null, ...order }]
  }
  const lamports = from.amount()
  const owner = owners[from.integer(2)]
  const data = from.view(from.integer(4))
  if (owner === undefined) {
    throw new RangeError("an account without its program")
  }
  // A copy: a view would keep the bytes of the whole message alive.
  return (
    address && [address, { slot, account: { address, owner, lamports, data: new Uint8Array(data), slot }, ...order }]
  )
}

const decode = (body: Uint8Array, find: Find): AccountMessage => {
  const from = new Reader(zstdDecompressSync(body))
  const session = from.number()
  const slot = from.number()
  const leases = new Map(list(from.integer(2), () => [from.text(from.integer(1)), from.integer(4)] as const))
  const unfollowed = list(from.integer(4), () => find(from.text(ADDRESS)))
  const owners = list(from.integer(2), () => addressFromBytes(from.view(ADDRESS)))
  const writes = list(from.integer(4), () => readWrite(from, { find, owners, session }))
  return {
    session,
    slot,
    leases,
    unfollowed: unfollowed.filter((address) => address !== undefined),
    writes: writes.filter((write) => write !== undefined)
  }
}

/**
 * The versions that this process reads. Their bytes are the same. In version 1 every account of a lease is followed
 * unless the node refuses it, so a reader of version 1 would take lost accounts for refused ones.
 */
const decoders: Readonly<Record<number, (body: Uint8Array, find: Find) => AccountMessage>> = { 1: decode, 2: decode }

/** Decodes a message with the accounts that `find` knows. Throws `UnreadableWrites`. */
export const decodeMessage = (bytes: Uint8Array, find: Find): AccountMessage => {
  const [version = null] = bytes
  const decoder = version === null ? undefined : decoders[version]
  if (decoder === undefined) {
    const cause = new Error(`version ${version ?? "none"} of account writes is unknown`)
    throw new UnreadableWrites({ version, cause })
  }
  try {
    return decoder(bytes.subarray(1), find)
  } catch (cause) {
    throw new UnreadableWrites({ version, cause })
  }
}
