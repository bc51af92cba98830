/** Random messages of the Geyser interface, and what the schema's own decoder makes of them. */
import { loadSync } from "@grpc/proto-loader"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type {
  GeyserInstruction,
  GeyserMeta,
  GeyserTokenBalance,
  GeyserTransaction,
  GeyserUpdate
} from "../../../src/chain/geyser/geyserUpdates.ts"
import { subscribeMethod } from "../../../src/chain/geyser/geyserService.ts"
import type { StreamUpdate } from "../../../src/chain/geyser/readUpdate.ts"
import { toBase58 } from "../../../src/domain/base58.ts"
import { makeRandom, type Random } from "../../../src/simulator/chain/Random.ts"

/** Fields that the reader does not know, one of each kind of value, before and after the known fields. */
const UNKNOWN = `
  fixed64 unknown_a = 901; fixed32 unknown_b = 902; string unknown_c = 903; uint64 unknown_d = 904;
  repeated uint32 unknown_e = 905; double unknown_f = 906;`

/** The service with unknown fields in every message. */
const extended = (() => {
  const text = readFileSync(new URL("../../../src/chain/geyser/geyser.proto", import.meta.url), "utf8")
  const folder = mkdtempSync(join(tmpdir(), "fathom-proto-"))
  const file = join(folder, "geyser.proto")
  writeFileSync(file, text.replaceAll(/^message \w+ \{/gmu, `$&${UNKNOWN}`))
  const definition = loadSync(file, { longs: String, arrays: true })["geyser.Geyser"]
  rmSync(folder, { recursive: true })
  return definition
})()

const junk = (random: Random) => ({
  unknownA: String(random.below(2 ** 40)),
  unknownB: random.below(2 ** 31),
  unknownC: "x".repeat(random.below(200)),
  unknownD: "18446744073709551615",
  unknownE: [1, 300, 70_000],
  unknownF: 0.5
})

/** Adds unknown fields to every message of an object. */
const withJunk = (value: unknown, random: Random): unknown =>
  Array.isArray(value)
    ? value.map((item) => withJunk(item, random))
    : typeof value === "object" && value !== null && !(value instanceof Uint8Array)
      ? {
          ...Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withJunk(member, random)])),
          ...junk(random)
        }
      : value

const bytes = (random: Random, length: number) => Uint8Array.from({ length }, () => random.below(256))
const maybe = <A>(random: Random, make: () => A): A | undefined => (random.below(4) === 0 ? undefined : make())
const list = <A>(random: Random, most: number, make: () => A): ReadonlyArray<A> =>
  Array.from({ length: random.below(most + 1) }, make)

/** Counts of every size up to 64 bits. */
const count = (random: Random): string =>
  String(
    BigInt.asUintN(
      random.below(65),
      bytes(random, 8).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
    )
  )
const safeCount = (random: Random): string => String(random.below(2 ** random.below(46)))

const key = (random: Random) => {
  const made = bytes(random, random.below(40) === 0 ? random.below(20) : 32)
  return random.below(5) === 0 ? made.fill(0, 0, 12) : made
}

const instruction = (random: Random, keys: number): GeyserInstruction => ({
  programIdIndex: random.below(keys + (random.below(60) === 0 ? 2 : 0)),
  accounts: Uint8Array.from(list(random, 20, () => random.below(keys))),
  data: bytes(random, random.below(40)),
  ...(random.below(2) === 0 && { stackHeight: 1 + random.below(5) })
})

const text = (random: Random) => toBase58(bytes(random, 32))

const balance = (random: Random, keys: number): GeyserTokenBalance => {
  const [owner, programId, mint] = [
    maybe(random, () => text(random)),
    maybe(random, () => text(random)),
    random.below(40) === 0 ? "short" : text(random)
  ]
  const amount = random.below(40) === 0 ? "12x" : count(random)
  return {
    accountIndex: random.below(keys),
    mint,
    ...(owner !== undefined && { owner }),
    ...(programId !== undefined && { programId }),
    ...(random.below(40) !== 0 && { uiTokenAmount: { decimals: random.below(12), amount } })
  }
}

const LINES = [
  "Program log: ray_log: AAAA",
  "Program log: é: größer",
  "Program data: AQID",
  "Program é invoke [2]",
  "Program A consumed 3 of 4 compute units",
  "",
  "Pro"
]

const meta = (random: Random, keys: number, outers: number): GeyserMeta => {
  const lamports = () => Array.from({ length: keys }, () => count(random))
  const err = random.below(4) === 0 ? { err: bytes(random, random.below(20)) } : undefined
  return {
    ...(err !== undefined && { err }),
    fee: count(random),
    preBalances: lamports(),
    postBalances: random.below(40) === 0 ? [] : lamports(),
    innerInstructions: list(random, outers + 1, () => ({
      index: random.below(outers + 1),
      instructions: list(random, 5, () => instruction(random, keys))
    })),
    logMessages: list(random, 5, () => LINES[random.below(LINES.length)] ?? ""),
    ...(random.below(4) === 0 && { logMessagesNone: random.below(2) === 0 }),
    preTokenBalances: list(random, 5, () => balance(random, keys)),
    postTokenBalances: list(random, 5, () => balance(random, keys)),
    loadedWritableAddresses: [],
    loadedReadonlyAddresses: []
  }
}

const transaction = (random: Random): GeyserTransaction => {
  const [own, writable, readonly] = [
    list(random, 9, () => key(random)),
    list(random, 3, () => key(random)),
    list(random, 3, () => key(random))
  ]
  const keys = own.length + writable.length + readonly.length
  const outers = random.below(5)
  const stated = maybe(random, () => meta(random, keys, outers))
  return {
    index: String(random.below(5_000)),
    isVote: random.below(10) === 0,
    ...(random.below(20) !== 0 && {
      transaction: {
        signatures: list(random, 3, () => bytes(random, 64)),
        message: {
          accountKeys: own,
          instructions: Array.from({ length: outers }, () => instruction(random, Math.max(1, keys)))
        }
      }
    }),
    ...(stated !== undefined && {
      meta: { ...stated, loadedWritableAddresses: writable, loadedReadonlyAddresses: readonly }
    })
  }
}

const head = (random: Random) => ({
  slot: safeCount(random),
  parentSlot: safeCount(random),
  blockhash: "hash",
  executedTransactionCount: safeCount(random),
  ...(random.below(2) === 0 && { blockTime: { timestamp: `${random.below(3) === 0 ? "-" : ""}${safeCount(random)}` } })
})

const member = (random: Random): Partial<GeyserUpdate> => {
  const slot = safeCount(random)
  switch (random.below(8)) {
    case 0:
      return {
        account: {
          slot,
          account: {
            pubkey: key(random),
            lamports: count(random),
            owner: key(random),
            data: bytes(random, random.below(400)),
            writeVersion: safeCount(random)
          }
        }
      }
    case 1:
      return { slot: { slot, status: random.below(3), ...(random.below(2) === 0 && { parent: safeCount(random) }) } }
    case 2:
      return { transactionStatus: { slot, index: safeCount(random), isVote: true } }
    case 3:
      return { blockMeta: head(random) }
    case 4:
      return random.below(2) === 0 ? { ping: {} } : { pong: {} }
    default:
      return { transaction: { slot, transaction: transaction(random) } }
  }
}

/** A random update as bytes, with unknown fields in every message. */
export const randomUpdate = (seed: number): Buffer => {
  const random = makeRandom(`update ${seed}`)
  const update = { filters: list(random, 3, () => `p${random.below(100)}`), ...member(random) }
  const method: unknown = extended === undefined ? undefined : Reflect.get(extended, "Subscribe")
  const serialize: unknown =
    typeof method === "object" && method !== null ? Reflect.get(method, "responseSerialize") : null
  if (typeof serialize !== "function") {
    throw new TypeError("the service has no method Subscribe")
  }
  const encoded: unknown = Reflect.apply(serialize, null, [withJunk(update, random)])
  return Buffer.isBuffer(encoded) ? encoded : Buffer.alloc(0)
}

/** True for a message that the schema decoded: it has a list of filters. */
const isUpdate = (message: unknown): message is GeyserUpdate =>
  typeof message === "object" && message !== null && "filters" in message

/** The update as the schema's own decoder reads it. */
export const bySchema = (encoded: Buffer): GeyserUpdate => {
  const update = subscribeMethod.responseDeserialize(encoded)
  if (!isUpdate(update)) {
    throw new TypeError("the schema decoded something else")
  }
  return update
}

const number = (digits: string | undefined): number => Number(digits ?? 0)
const NO_BYTES = new Uint8Array(0)
const plain = (value: Uint8Array | undefined): Uint8Array => Uint8Array.from(value ?? NO_BYTES)

const placedOf = ({ transaction, transactionStatus }: GeyserUpdate) => {
  const placed = transaction?.transaction ?? transactionStatus
  return placed === undefined
    ? null
    : { slot: number((transaction ?? transactionStatus)?.slot), index: number(placed.index) }
}

/** What the reader should make of an update. Of a transaction only its place: its bytes are decoded apart. */
export const expectedUpdate = (update: GeyserUpdate) => {
  const { account, blockMeta, filters, ping, slot } = update
  return {
    filters,
    account:
      account === undefined
        ? null
        : {
            slot: number(account.slot),
            pubkey: plain(account.account?.pubkey),
            lamports: BigInt(account.account?.lamports ?? 0),
            owner: plain(account.account?.owner),
            data: plain(account.account?.data),
            writeVersion: number(account.account?.writeVersion)
          },
    slot:
      slot === undefined
        ? null
        : {
            slot: number(slot.slot),
            parent: slot.parent === undefined ? null : number(slot.parent),
            status: slot.status ?? 0
          },
    transaction: placedOf(update),
    head:
      blockMeta === undefined
        ? null
        : {
            slot: number(blockMeta.slot),
            parentSlot: number(blockMeta.parentSlot),
            blockhash: blockMeta.blockhash ?? "",
            blockTime: blockMeta.blockTime === undefined ? null : number(blockMeta.blockTime.timestamp),
            executed: number(blockMeta.executedTransactionCount)
          },
    isPing: ping !== undefined
  }
}

/** The update that was read, with copies of its bytes, and of a transaction only its place. */
export const readAsPlain = ({ account, transaction, ...update }: StreamUpdate) => ({
  ...update,
  account:
    account === null
      ? null
      : { ...account, pubkey: plain(account.pubkey), owner: plain(account.owner), data: plain(account.data) },
  transaction: transaction === null ? null : { slot: transaction.slot, index: transaction.index }
})

const entryInstruction = ({ accounts, data, programIdIndex, stackHeight }: GeyserInstruction) => ({
  programIdIndex: programIdIndex ?? 0,
  accounts: Array.from(accounts ?? NO_BYTES),
  data: toBase58(data ?? NO_BYTES),
  ...(stackHeight !== undefined && { stackHeight })
})

const entryBalance = ({ accountIndex, mint, owner, programId, uiTokenAmount }: GeyserTokenBalance) => ({
  accountIndex: accountIndex ?? 0,
  mint,
  // On the wire an absent text is empty.
  ...(owner !== undefined && owner !== "" && { owner }),
  ...(programId !== undefined && programId !== "" && { programId }),
  uiTokenAmount: { amount: uiTokenAmount?.amount, decimals: uiTokenAmount?.decimals ?? 0 }
})

const entryMeta = (given: GeyserMeta) => ({
  err: given.err === undefined ? null : Buffer.from(given.err.err ?? NO_BYTES).toString("base64"),
  fee: given.fee ?? "0",
  preBalances: given.preBalances,
  postBalances: given.postBalances,
  innerInstructions: given.innerInstructions.map(({ index, instructions }) => ({
    index: index ?? 0,
    instructions: instructions.map(entryInstruction)
  })),
  logMessages: given.logMessagesNone === true ? null : given.logMessages,
  preTokenBalances: given.preTokenBalances.map(entryBalance),
  postTokenBalances: given.postTokenBalances.map(entryBalance),
  loadedAddresses: {
    writable: given.loadedWritableAddresses.map(toBase58),
    readonly: given.loadedReadonlyAddresses.map(toBase58)
  }
})

/** A transaction as in the answer of `getBlock`, in encoding `json`. */
export const entryOf = ({ index, meta: given, transaction: signed }: GeyserTransaction) => ({
  index: number(index),
  meta: given === undefined ? null : entryMeta(given),
  transaction: {
    signatures: (signed?.signatures ?? []).map(toBase58),
    message: {
      accountKeys: (signed?.message?.accountKeys ?? []).map(toBase58),
      instructions: (signed?.message?.instructions ?? []).map(entryInstruction)
    }
  }
})
