/** Transactions as bytes on the wire. */
import { addressToBytes } from "../../domain/Address.ts"
import { fromBase58 } from "../../domain/base58.ts"
import type { Call } from "./Call.ts"
import type { Message } from "./message.ts"
import { pack, u8 } from "../layout/pack.ts"

const VERSION_0 = 0x80

const bytesOf = (text: string): Uint8Array => fromBase58(text) ?? new Uint8Array(0)

/** A count, encoded in one to three bytes with seven bits each. */
const compact = (value: number): Uint8Array => {
  const bytes: Array<number> = []
  for (let rest = value; ; rest >>= 7) {
    if (rest < 0x80) {
      return Uint8Array.of(...bytes, rest)
    }
    bytes.push((rest & 0x7f) | 0x80)
  }
}

const counted = (values: ReadonlyArray<number>): Uint8Array => pack(compact(values.length), Uint8Array.from(values))

/** A transaction before it is signed. */
export interface UnsignedTransaction {
  readonly message: Message
  readonly calls: ReadonlyArray<Call>
  readonly blockhash: string
}

/** The transaction as it was sent. */
export const wireOf = (
  { message, calls, blockhash }: UnsignedTransaction,
  signatures: ReadonlyArray<string>
): Uint8Array => {
  const { version, keys, signers, readonlySigners, readonlyOthers, lookups, loadedWritable, loadedReadonly } = message
  const places = new Map(keys.map((key, index) => [key, index]))
  const place = (address: (typeof keys)[number]) => places.get(address) ?? 0
  const named = keys.slice(0, keys.length - loadedWritable - loadedReadonly)
  const instruction = ({ program, accounts, data }: Call) =>
    pack(u8(place(program)), counted(accounts.map(({ address }) => place(address))), compact(data.length), data)
  const tables = lookups.map(({ table, writable, readonly }) =>
    pack(addressToBytes(table), counted(writable), counted(readonly))
  )
  return pack(
    compact(signatures.length),
    ...signatures.map(bytesOf),
    ...(version === 0 ? [u8(VERSION_0)] : []),
    Uint8Array.of(signers, readonlySigners, readonlyOthers),
    compact(named.length),
    ...named.map(addressToBytes),
    bytesOf(blockhash),
    compact(calls.length),
    ...calls.map(instruction),
    ...(version === 0 ? [compact(tables.length), ...tables] : [])
  )
}
