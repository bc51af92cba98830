import { assert, it } from "@effect/vitest"
import type { Address } from "../../../src/domain/Address.ts"
import type { AccountState } from "../../../src/chain/AccountState.ts"
import {
  type AccountMessage,
  decodeMessage,
  encodeMessage,
  keyOfAddress,
  UnreadableWrites,
  VERSION
} from "../../../src/chain/bus/accountMessage.ts"
import { at, holding } from "../accounts/accounts.ts"

/** Number of the connection. Versions are only ordered within one connection. */
const SESSION = 2 ** 48 - 1

const written = (
  address: Address,
  bytes: ReadonlyArray<number>,
  slot: number,
  writeVersion: number,
  stream = SESSION
) => [address, { slot, account: holding(address, bytes, slot), writeVersion, stream }] as const

const closed: AccountState = { slot: 318_000_001, account: null, writeVersion: 2 ** 53 - 1, stream: SESSION }

const message: AccountMessage = {
  session: SESSION,
  slot: 318_000_002,
  leases: new Map([
    ["one", 1],
    ["another", 70_000]
  ]),
  unfollowed: [at(9)],
  writes: [
    written(at(1), [1, 2, 3], 318_000_001, 1_700_000_000_001),
    [at(2), closed],
    [
      at(3),
      {
        slot: 318_000_002,
        account: { ...holding(at(3), [], 318_000_002), owner: at(200), lamports: 2n ** 64n - 1n },
        writeVersion: undefined
      }
    ],
    written(
      at(4),
      Array.from({ length: 2000 }, (_, i) => i % 251),
      318_000_002,
      0
    )
  ]
}

const finding = (...addresses: ReadonlyArray<Address>) => {
  const known = new Map(addresses.map((address) => [keyOfAddress(address), address]))
  return (key: string) => known.get(key)
}
const everything = finding(at(1), at(2), at(3), at(4), at(9))

const failure = (bytes: Uint8Array): unknown => {
  try {
    return decodeMessage(bytes, everything)
  } catch (error) {
    return error
  }
}

it("restores writes completely: versions, accounts that ceased to exist, and amounts beyond numbers", () => {
  const bytes = encodeMessage(message)
  assert.strictEqual(bytes[0], VERSION)
  assert.deepStrictEqual(decodeMessage(bytes, everything), message)
})

it("leaves out accounts that the reader does not follow", () => {
  const { unfollowed, writes } = decodeMessage(encodeMessage(message), finding(at(3)))
  assert.deepStrictEqual(writes, message.writes.slice(2, 3))
  assert.deepStrictEqual(unfollowed, [])
})

it("decodes data into its own memory", () => {
  const [first] = decodeMessage(encodeMessage(message), everything).writes
  assert.strictEqual(first?.[1].account?.data.buffer.byteLength, 3)
})

/** Bytes of version 1. They stay readable while version 2 is written. */
const FIRST =
  "ASi1L/0g140DAMLFFSSgN40B4G0CeAAX/th4Yyf8js1CzvbThn24+wEoXIyjbFxumQL//6+DTNl/7LKu2/zZAXA1A4aAaARa4VmJxTMwpKY8CidGATRpciJ//hpRlZ7r4Nv+PwkATwkA78Ewd4AhrKM/tOCgeUCHAMgB"

it("reads the writes of a process that still runs version 1", () => {
  assert.deepStrictEqual(decodeMessage(Buffer.from(FIRST, "base64"), everything), {
    session: 7,
    slot: 102,
    leases: new Map([["one", 3]]),
    unfollowed: [at(9)],
    writes: [written(at(1), [1, 2, 3], 101, 12, 7), [at(2), { slot: 102, account: null, writeVersion: undefined }]]
  })
})

it("rejects a version that it does not know, with its number, and bytes that are not a message", () => {
  const bytes = encodeMessage(message)
  const later = Uint8Array.from([VERSION + 1, ...bytes.subarray(1)])
  assert.deepInclude(failure(later), { _tag: "UnreadableWrites", version: VERSION + 1 })
  assert.deepInclude(failure(bytes.subarray(0, 40)), { _tag: "UnreadableWrites", version: VERSION })
  assert.deepInclude(failure(new Uint8Array()), { _tag: "UnreadableWrites", version: null })
  assert.instanceOf(failure(new Uint8Array()), UnreadableWrites)
})
