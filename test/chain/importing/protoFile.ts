/** Writes blocks of the simulator as messages `SubscribeUpdateBlock`, each behind its length. */
import { readUpdate } from "../../../src/chain/geyser/readUpdate.ts"
import { subscribeMethod } from "../../../src/chain/geyser/geyserService.ts"
import { bytesField, varintField } from "../../../src/chain/geyser/wire.ts"
import type { Transaction } from "../../../src/simulator/chain/Ledger.ts"
import { geyserTransaction } from "../../../src/simulator/node/geyserTransaction.ts"

export const varint = (value: number): Buffer => {
  const digits: Array<number> = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      return Buffer.of(...digits, rest)
    }
    digits.push((rest % 128) + 128)
  }
}

const numberField = (field: number, value: number) => Buffer.concat([Buffer.of(varintField(field)), varint(value)])

const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([Buffer.of(bytesField(number)), varint(bytes.length), bytes])

/** The message `TransactionInfo` of a transaction. */
export const infoOf = (transaction: Transaction): Uint8Array => {
  const update = { filters: [], transaction: { slot: "1", transaction: geyserTransaction(transaction) } }
  return readUpdate(subscribeMethod.responseSerialize(update)).transaction?.info ?? new Uint8Array(0)
}

/** The transactions of a block as its message has them. */
export const bodyOf = (infos: ReadonlyArray<Uint8Array>): Buffer => Buffer.concat(infos.map((info) => field(6, info)))

export interface ProtoHead {
  readonly slot: number
  readonly parentSlot: number
  readonly blockTime: number
  readonly blockhash: string
  readonly parentBlockhash: string
  readonly executed: number
}

/** The bytes of a block before its transactions, with the length of the whole. */
export const headOf = (head: ProtoHead, body: number): Buffer => {
  const fields = Buffer.concat([
    numberField(1, head.slot),
    field(2, Buffer.from(head.blockhash)),
    field(4, numberField(1, head.blockTime)),
    numberField(7, head.parentSlot),
    field(8, Buffer.from(head.parentBlockhash)),
    numberField(9, head.executed)
  ])
  return Buffer.concat([varint(fields.length + body), fields])
}

/** A block, given as a node answers it and with the messages `TransactionInfo` of its transactions. */
export const protoOf = (
  answer: Omit<ProtoHead, "executed" | "parentBlockhash" | "slot"> & { readonly previousBlockhash: string },
  slot: number,
  infos: ReadonlyArray<Uint8Array>
): Buffer => {
  const { blockTime, blockhash, parentSlot, previousBlockhash: parentBlockhash } = answer
  const body = bodyOf(infos)
  const head = { slot, parentSlot, blockTime, blockhash, parentBlockhash, executed: infos.length }
  return Buffer.concat([headOf(head, body.length), body])
}

/** The message `TransactionInfo` with its position in the block. */
export const placedInfo = (info: Uint8Array, index: number): Buffer => Buffer.concat([info, numberField(5, index)])
